//! Where the rows of a statement go: they are counted, and one is kept.

use std::ffi::CStr;

use pgrx::{pg_guard, pg_sys};

use super::{Keep, Rows};
use crate::{errors::Fault, pg::text};

/// Counts rows, and keeps one.
#[repr(C)]
pub struct Receiver {
    base: pg_sys::DestReceiver,
    keep: Keep,
    /// Output functions of the columns.
    outputs: Vec<pg_sys::Oid>,
    rows: Rows,
    fault: Option<Fault>,
}

impl Receiver {
    pub fn new(keep: Keep) -> Self {
        Self {
            base: pg_sys::DestReceiver {
                receiveSlot: Some(receive),
                rStartup: Some(start_up),
                rShutdown: Some(do_nothing),
                rDestroy: Some(do_nothing),
                mydest: pg_sys::CommandDest::DestNone,
            },
            keep,
            outputs: Vec::new(),
            rows: Rows::default(),
            fault: None,
        }
    }

    /// Where rows are sent to. It is this value, which has to stay where it is.
    pub fn destination(&mut self) -> *mut pg_sys::DestReceiver {
        match self.keep {
            // SAFETY: reads a pointer that the server has set at its start.
            Keep::Nothing => unsafe { pg_sys::None_Receiver },
            Keep::First | Keep::Last => (&raw mut *self).cast(),
        }
    }

    /// The rows, unless one of them could not be read.
    pub fn into_rows(self) -> Result<Rows, Fault> {
        match self.fault {
            Some(fault) => Err(fault),
            None => Ok(self.rows),
        }
    }

    /// # Safety
    /// A slot with a row of the columns that `start_up` was given.
    unsafe fn take(&mut self, slot: *mut pg_sys::TupleTableSlot) -> Result<(), Fault> {
        self.rows.kept.clear();
        // SAFETY: the caller's duty; all attributes are there after the first call.
        unsafe {
            let count = self.outputs.len();
            if ((*slot).tts_nvalid as usize) < count {
                pg_sys::slot_getsomeattrs_int(slot, count as i32);
            }
            for (index, output) in self.outputs.iter().enumerate() {
                let value = match *(*slot).tts_isnull.add(index) {
                    true => None,
                    false => {
                        let datum = *(*slot).tts_values.add(index);
                        let text = pg_sys::OidOutputFunctionCall(*output, datum);
                        let shown = text::from_server(CStr::from_ptr(text).to_bytes())?;
                        pg_sys::pfree(text.cast());
                        Some(shown)
                    }
                };
                self.rows.kept.push(value);
            }
        }
        Ok(())
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn start_up(
    receiver: *mut pg_sys::DestReceiver,
    _operation: i32,
    columns: pg_sys::TupleDesc,
) {
    // SAFETY: called with the receiver that was given to the portal, and the description of its rows.
    unsafe {
        let receiver = &mut *receiver.cast::<Receiver>();
        receiver.outputs.clear();
        receiver.rows.columns.clear();
        for number in 1..=(*columns).natts {
            let name = pg_sys::SPI_fname(columns, number);
            let name = text::shown_from_server(CStr::from_ptr(name).to_bytes());
            receiver.rows.columns.push(name);
            let (mut output, mut varies) = (pg_sys::InvalidOid, false);
            let type_ = pg_sys::SPI_gettypeid(columns, number);
            pg_sys::getTypeOutputInfo(type_, &mut output, &mut varies);
            receiver.outputs.push(output);
        }
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn receive(
    slot: *mut pg_sys::TupleTableSlot,
    receiver: *mut pg_sys::DestReceiver,
) -> bool {
    // SAFETY: called with the receiver that was given to the portal, after `start_up`.
    unsafe {
        let receiver = &mut *receiver.cast::<Receiver>();
        receiver.rows.count += 1;
        let is_wanted = receiver.keep == Keep::Last || receiver.rows.count == 1;
        if is_wanted && let Err(fault) = receiver.take(slot) {
            receiver.fault = Some(fault);
        }
    }
    true
}

#[pg_guard]
unsafe extern "C-unwind" fn do_nothing(_receiver: *mut pg_sys::DestReceiver) {}
