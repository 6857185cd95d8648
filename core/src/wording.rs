//! Every sentence of the program passes [`say`]. Tests replace all sentences by their codes: no decision reads a sentence, and all
//! decisions come out the same.

#[cfg(test)]
use std::cell::Cell;

#[cfg(test)]
thread_local! {
    static ONLY_CODES: Cell<bool> = const { Cell::new(false) };
}

/// The sentence for a code.
pub fn say(code: &str, words: impl FnOnce() -> String) -> String {
    #[cfg(test)]
    if ONLY_CODES.get() {
        return code.to_owned();
    }
    let _ = code;
    words()
}

/// The result of `decide` where each sentence is replaced by its code.
#[cfg(test)]
pub fn without<T>(decide: impl FnOnce() -> T) -> T {
    struct Restore;
    impl Drop for Restore {
        fn drop(&mut self) {
            ONLY_CODES.set(false);
        }
    }
    ONLY_CODES.set(true);
    let _restore = Restore;
    decide()
}
