//! The parameters of targets, in one table: the arguments of `create_target`, the columns that they become, the targets that take them, and the values
//! that an experiment may vary.

use serde_json::Value;

use super::Kind;

/// The value that a parameter takes where an experiment varies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariedValue {
    /// A text; an empty one stands for none.
    Text,
    /// True or false.
    Truth,
    /// The member of an object, which is this argument.
    Member(&'static str),
}

impl VariedValue {
    /// Whether it takes such a value.
    pub fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Truth => value.is_boolean(),
            Self::Member(_) => true,
        }
    }

    /// The type in a sentence for users.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Text => "It takes texts; an empty one stands for none.",
            Self::Truth => "It takes true and false, without quotes.",
            Self::Member(_) => "It takes texts, numbers and booleans.",
        }
    }
}

/// The targets that take a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppliesTo {
    /// It makes a target one of this kind.
    Defining(Kind),
    /// Those whose filesystem the helper makes.
    Made,
    /// Those on images.
    Images,
    /// Those that have a server of their own.
    OwnServer,
    /// All.
    All,
}

/// One parameter.
#[derive(Debug)]
pub struct Parameter {
    /// The argument of `create_target`.
    pub name: &'static str,
    /// The column of `fsbench.target`.
    pub column: &'static str,
    pub applies_to: AppliesTo,
    /// None: it is the same for all targets of an experiment, or has members.
    pub varied: Option<VariedValue>,
}

const fn parameter(
    name: &'static str,
    applies_to: AppliesTo,
    varied: Option<VariedValue>,
) -> Parameter {
    Parameter {
        name,
        column: name,
        applies_to,
        varied,
    }
}

/// A size with a unit, of which the column has the bytes.
const fn size(
    name: &'static str,
    column: &'static str,
    applies_to: AppliesTo,
    varied: Option<VariedValue>,
) -> Parameter {
    Parameter {
        name,
        column,
        applies_to,
        varied,
    }
}

const TEXT: Option<VariedValue> = Some(VariedValue::Text);
const TRUTH: Option<VariedValue> = Some(VariedValue::Truth);

/// All parameters. What a target is made of is compared by targets, and what is declared of it changes nothing: neither is varied.
pub const PARAMETERS: &[Parameter] = &[
    parameter("device", AppliesTo::Defining(Kind::Device), None),
    parameter("devices", AppliesTo::Defining(Kind::Device), None),
    size(
        "image_size",
        "image_size_bytes",
        AppliesTo::Defining(Kind::Image),
        None,
    ),
    parameter("directory", AppliesTo::Defining(Kind::Directory), None),
    parameter("connection", AppliesTo::Defining(Kind::Connection), None),
    parameter("filesystem", AppliesTo::Made, None),
    parameter("mkfs_options", AppliesTo::Made, TEXT),
    parameter("mount_options", AppliesTo::Made, TEXT),
    parameter("log_device", AppliesTo::Made, TEXT),
    parameter("log_devices", AppliesTo::Made, None),
    size("log_size", "log_size_bytes", AppliesTo::Made, TEXT),
    parameter("pool_properties", AppliesTo::Made, TEXT),
    parameter("dataset_properties", AppliesTo::Made, TEXT),
    parameter("ssd_state", AppliesTo::Made, TEXT),
    parameter("block_settings", AppliesTo::Made, None),
    parameter("kernel_settings", AppliesTo::Made, None),
    parameter("drop_caches", AppliesTo::Made, TRUTH),
    parameter("layout", AppliesTo::Made, TEXT),
    parameter("layout_options", AppliesTo::Made, None),
    parameter("initial_sync", AppliesTo::Made, TEXT),
    parameter("image_sparse", AppliesTo::Images, TRUTH),
    parameter("image_count", AppliesTo::Images, None),
    parameter("settings", AppliesTo::OwnServer, None),
    parameter("bindir", AppliesTo::OwnServer, TEXT),
    parameter("data_checksums", AppliesTo::OwnServer, TRUTH),
    parameter("power_loss_protected", AppliesTo::All, None),
];

/// Columns that no argument gives.
pub const FOUND_OUT: [&str; 4] = [
    "target",
    "mount_point",
    "device_identity",
    "log_device_identity",
];

/// Objects of which one member can be varied, and what they are called in `create_target`, where `settings` is meant for runs here.
const OBJECTS: &[(&str, &str)] = &[
    ("block_settings", "block_settings"),
    ("kernel_settings", "kernel_settings"),
    ("layout_options", "layout_options"),
    ("target_settings", "settings"),
];

/// The parameter of this name.
pub fn named(name: &str) -> Option<&'static Parameter> {
    PARAMETERS.iter().find(|parameter| parameter.name == name)
}

/// Type of the values of a factor, if it varies targets.
pub fn takes(factor: &str) -> Option<VariedValue> {
    match factor.split_once('.') {
        Some((_, "")) => None,
        Some((object, _)) => {
            let known = OBJECTS.iter().find(|(name, _)| *name == object);
            known.map(|(_, argument)| VariedValue::Member(argument))
        }
        None => named(factor)?.varied,
    }
}

/// Names of all factors that vary targets, for users.
pub fn factors() -> Vec<String> {
    let varied = PARAMETERS.iter().filter(|p| p.varied.is_some());
    let members = OBJECTS.iter().map(|(object, _)| format!("{object}.NAME"));
    varied.map(|p| p.name.to_owned()).chain(members).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Row;

    #[test]
    fn every_column_is_a_parameter_or_found_out() {
        let row = serde_json::to_value(Row::default()).unwrap();
        let mut columns: Vec<&str> = row
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let mut known: Vec<&str> = PARAMETERS
            .iter()
            .map(|p| p.column)
            .chain(FOUND_OUT)
            .collect();
        columns.sort_unstable();
        known.sort_unstable();
        assert_eq!(columns, known);
    }

    #[test]
    fn each_factor_that_is_named_is_taken() {
        let named = factors();
        assert!(named.iter().all(|name| takes(name).is_some()), "{named:?}");
        for name in ["layout", "data_checksums", "layout_options.NAME"] {
            assert!(named.iter().any(|known| known == name), "{name}");
        }
    }
}
