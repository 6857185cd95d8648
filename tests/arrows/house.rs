//! A crate's files, its floors, and what is wrong with the arrows between them.

use crate::{
    imports::{Import, imports},
    literals::long_sql,
    words::Rule,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The files below one directory, each by its module's path (`run/plan`), and the floors that the root names.
pub struct House {
    files: BTreeMap<String, PathBuf>,
    /// Files of SQL.
    queries: Vec<PathBuf>,
    /// Imports of each file.
    imports: BTreeMap<String, Vec<Import>>,
    /// Floor of each room.
    floors: BTreeMap<String, usize>,
    directory: PathBuf,
    root: String,
}

/// Modules, and names in them.
type Names = BTreeSet<(String, String)>;

/// Each file, the files that it imports, and in which line.
type Edges<'a> = BTreeMap<&'a str, BTreeMap<&'a str, usize>>;

/// A word of a rule beside its room: file, line, word.
type Word<'a> = (String, usize, &'a str);

/// One import: who, whom, and in which line.
struct Arrow {
    from: String,
    to: String,
    line: usize,
}

impl House {
    pub fn read(directory: &Path) -> Self {
        let paths = files_of(directory, "rs");
        let is_root =
            |path: &&PathBuf| ["lib.rs", "main.rs"].contains(&relative(directory, path).as_str());
        let root = paths.iter().find(is_root).expect("it has a root").clone();
        let files: BTreeMap<String, PathBuf> = paths
            .iter()
            .filter(|path| **path != root)
            .map(|path| (module_of(&relative(directory, path)), path.clone()))
            .filter(|(module, _)| !module.split('/').any(|part| part == "tests"))
            .collect();
        let named = |(module, path): (&String, &PathBuf)| {
            let text = fs::read_to_string(path).expect("it can be read");
            (module.clone(), imports(&text))
        };
        Self {
            imports: files.iter().map(named).collect(),
            files,
            queries: files_of(directory, "sql"),
            floors: floors_of(&fs::read_to_string(&root).expect("it can be read")),
            root: relative(directory, &root),
            directory: directory.to_path_buf(),
        }
    }

    /// The faults, one line each.
    pub fn faults(&self) -> Vec<String> {
        let arrows = self.arrows();
        let mut faults = self.rooms_without_floor();
        faults.extend(arrows.iter().filter_map(|arrow| self.upward(arrow)));
        faults.extend(self.circle(&arrows));
        faults
    }

    fn rooms_without_floor(&self) -> Vec<String> {
        let rooms: BTreeSet<&str> = self.files.keys().map(|module| room(module)).collect();
        let homeless = rooms
            .iter()
            .filter(|room| !self.floors.contains_key(**room))
            .map(|room| format!("{room}: has no floor in {}", self.root));
        let empty = self
            .floors
            .keys()
            .filter(|room| !rooms.contains(room.as_str()))
            .map(|room| format!("{}: there is no room {room}", self.root));
        homeless.chain(empty).collect()
    }

    /// Files beside the folders, where only the roof's entry and the ground floor may be.
    pub fn flat_files(&self) -> Vec<String> {
        self.rooms_in_files(1)
            .map(|room| beside_the_rooms(&self.file(room)))
            .collect()
    }

    /// Files above so many low floors that have no folder of their name, but for these; and those of these that are no such file.
    pub fn single_files(&self, low_floors: usize, but_for: &[&str]) -> Vec<String> {
        let single: BTreeSet<String> = self
            .rooms_in_files(low_floors)
            .filter(|room| !self.has_parts(room))
            .map(|room| self.file(room))
            .collect();
        let known = |file: &&String| !but_for.contains(&file.as_str());
        let stale = but_for.iter().filter(|file| !single.contains(**file));
        let faults = single.iter().filter(known);
        faults
            .map(|file| beside_the_rooms(file))
            .chain(stale.map(|file| format!("{file}: is listed, and no single file up there")))
            .collect()
    }

    /// Rooms above so many low floors whose face is not in their folder.
    fn rooms_in_files(&self, low_floors: usize) -> impl Iterator<Item = &str> {
        let is_high = move |module: &String| {
            let floor = self.floors.get(module);
            floor.is_some_and(|floor| *floor >= low_floors)
        };
        self.files
            .iter()
            .filter(move |(module, path)| {
                module.as_str() != "entry" && !path.ends_with("mod.rs") && is_high(module)
            })
            .map(|(module, _)| module.as_str())
    }

    /// Whether there are files in the folder of a room, beside its tests.
    fn has_parts(&self, room: &str) -> bool {
        let folder = format!("{room}/");
        self.files.keys().any(|module| module.starts_with(&folder))
    }

    fn file(&self, module: &str) -> String {
        relative(&self.directory, &self.files[module])
    }

    /// The folders in a room.
    pub fn folders_of(&self, room: &str) -> BTreeSet<String> {
        let inside = self.files.keys().filter_map(|module| {
            let (folder, _) = module
                .strip_prefix(room)?
                .strip_prefix('/')?
                .split_once('/')?;
            Some(folder.to_owned())
        });
        inside.collect()
    }

    /// Literals of SQL with more lines than that, one line for each.
    pub fn long_sql(&self, most: usize) -> Vec<String> {
        let mut faults = Vec::new();
        for path in self.files.values() {
            let file = relative(&self.directory, path);
            let text = fs::read_to_string(path).expect("it can be read");
            faults.extend(long_sql(&text, most).into_iter().map(|(line, lines)| {
                format!("{file}:{line}: SQL of {lines} lines: put it into a file in queries/")
            }));
        }
        faults
    }

    /// Words that stand where they may not, one line for each.
    pub fn words_out_of_place(&self, rule: &Rule) -> Vec<String> {
        let words = self.words_beside(rule).into_iter();
        words
            .filter(|(file, ..)| !rule.excuses(file))
            .map(|(file, line, word)| {
                let word = word.trim_matches('"');
                format!("{file}:{line}: \"{word}\" belongs to {}", rule.room)
            })
            .collect()
    }

    /// Files beside a rule's room that have its words.
    pub fn files_with_words(&self, rule: &Rule) -> BTreeSet<String> {
        let words = self.words_beside(rule).into_iter();
        words.map(|(file, ..)| file).collect()
    }

    fn words_beside<'a>(&self, rule: &'a Rule) -> Vec<Word<'a>> {
        let mut words = Vec::new();
        for path in self.files.values().chain(&self.queries) {
            let file = relative(&self.directory, path);
            if room(&module_of(&file)) == rule.room {
                continue;
            }
            let text = fs::read_to_string(path).expect("it can be read");
            let found = rule.found(&file, &text).into_iter();
            words.extend(found.map(|(line, word)| (file.clone(), line, word)));
        }
        words
    }

    /// Each once, in its first line.
    fn arrows(&self) -> Vec<Arrow> {
        let mut arrows = Vec::new();
        for (from, imports) in &self.imports {
            let mut known = BTreeSet::from([from.clone()]);
            for Import { path, line, .. } in imports {
                let targets = self.targets(from, path, &mut BTreeSet::new());
                for to in targets {
                    if known.insert(to.clone()) {
                        let (from, line) = (from.clone(), *line);
                        arrows.push(Arrow { from, to, line });
                    }
                }
            }
        }
        arrows
    }

    /// The modules of the house that a path in this module leads to: the one that it names, and, where that one has its name from
    /// another (`pub use`), that one, too. `seen`: names that were followed already.
    fn targets(&self, from: &str, path: &[String], seen: &mut Names) -> BTreeSet<String> {
        let Some(whole) = self.whole(from, path) else {
            return self.behind(from, path, seen);
        };
        let module_of = |length: usize| {
            let module = whole[..length].join("/");
            self.files.contains_key(&module).then_some((length, module))
        };
        let Some((length, module)) = (1..=whole.len()).rev().find_map(module_of) else {
            return BTreeSet::new();
        };
        let mut targets = self.behind(&module, &whole[length..], seen);
        targets.insert(module);
        targets
    }

    /// The modules from which a module has the name that this path begins with.
    fn behind(&self, module: &str, path: &[String], seen: &mut Names) -> BTreeSet<String> {
        let Some((name, rest)) = path.split_first() else {
            return BTreeSet::new();
        };
        if !seen.insert((module.to_owned(), name.clone())) {
            return BTreeSet::new();
        }
        let imports = self.imports[module].iter();
        imports
            .filter(|import| import.name.as_ref() == Some(name))
            .flat_map(|import| self.targets(module, &[&import.path[..], rest].concat(), seen))
            .collect()
    }

    /// A path from the root; None of one that begins with a name that the module has.
    fn whole(&self, from: &str, path: &[String]) -> Option<Vec<String>> {
        let first = path.first()?;
        let ups = path.iter().take_while(|word| *word == "super").count();
        let base: Vec<&str> = from.split('/').collect();
        let (base, rest) = match first.as_str() {
            "crate" => (&base[..0], &path[1..]),
            "super" => (&base[..base.len().saturating_sub(ups)], &path[ups..]),
            "self" => (&base[..], &path[1..]),
            part if self.files.contains_key(&format!("{from}/{part}")) => (&base[..], path),
            _ => return None,
        };
        let base = base.iter().map(|word| (*word).to_owned());
        Some(base.chain(rest.iter().cloned()).collect())
    }

    /// The fault of this arrow, if it leads to another room that does not stand lower.
    fn upward(&self, arrow: &Arrow) -> Option<String> {
        let (from, to) = (room(&arrow.from), room(&arrow.to));
        let (above, below) = (self.floors.get(from)?, self.floors.get(to)?);
        let path = self.file(&arrow.from);
        (from != to && below >= above).then(|| {
            format!(
                "{path}:{}: {from} may not import {to} ({})",
                arrow.line, arrow.to
            )
        })
    }

    /// The first circle of files, with the line of each import.
    fn circle(&self, arrows: &[Arrow]) -> Option<String> {
        let edges = edges(arrows);
        let mut done = BTreeSet::new();
        let circle = edges
            .keys()
            .find_map(|start| visit(start, &edges, &mut done, &mut Vec::new()))?;
        let hops = circle.windows(2).map(|hop| {
            let line = edges[hop[0]][hop[1]];
            format!("{}:{line} -> ", self.file(hop[0]))
        });
        let hops: String = hops.collect();
        Some(format!("circle: {hops}{}", self.file(circle[0])))
    }
}

fn beside_the_rooms(file: &str) -> String {
    format!("{file}: stands beside the rooms: make it a folder, or put it into one")
}

fn room(module: &str) -> &str {
    module.split('/').next().unwrap_or(module)
}

fn relative(directory: &Path, path: &Path) -> String {
    path.strip_prefix(directory)
        .expect("it lies below")
        .display()
        .to_string()
}

fn module_of(file: &str) -> String {
    let file = file.trim_end_matches(".rs");
    file.strip_suffix("/mod").unwrap_or(file).to_owned()
}

/// The files below a directory whose names end like that.
fn files_of(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<PathBuf> = fs::read_dir(directory)
        .expect("it can be read")
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            found.extend(files_of(&path, extension));
        } else if path.extension().is_some_and(|its| its == extension) {
            found.push(path);
        }
    }
    found
}

/// The floors in the first block of text of the root's head: a line a floor, from the roof down, with the rooms on it.
fn floors_of(root: &str) -> BTreeMap<String, usize> {
    let lines: Vec<&str> = root
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(str::trim)
        .skip_while(|line| *line != "```text")
        .skip(1)
        .take_while(|line| *line != "```")
        .collect();
    assert!(!lines.is_empty(), "the root's head names the floors");
    let floor = |(number, line): (usize, &&str)| {
        let rooms = line
            .split_whitespace()
            .map(move |room| (room.to_owned(), number));
        rooms.collect::<Vec<_>>()
    };
    lines.iter().rev().enumerate().flat_map(floor).collect()
}

/// The arrows of which a circle can be. A file and the folder of its parts may know each other: they are one thing in several files.
fn edges(arrows: &[Arrow]) -> Edges<'_> {
    let mut edges = Edges::new();
    for Arrow { from, to, line } in arrows {
        let is_part = |whole: &str, part: &str| part.starts_with(&format!("{whole}/"));
        if !is_part(from, to) && !is_part(to, from) {
            edges.entry(from).or_default().insert(to, *line);
        }
    }
    edges
}

fn visit<'a>(
    file: &'a str,
    edges: &Edges<'a>,
    done: &mut BTreeSet<&'a str>,
    way: &mut Vec<&'a str>,
) -> Option<Vec<&'a str>> {
    if let Some(at) = way.iter().position(|seen| *seen == file) {
        return Some([&way[at..], &[file]].concat());
    }
    if done.contains(file) {
        return None;
    }
    way.push(file);
    let found = edges
        .get(file)
        .into_iter()
        .flat_map(BTreeMap::keys)
        .find_map(|next| visit(next, edges, done, way));
    way.pop();
    done.insert(file);
    found
}
