//! The one place through which sentences go: each is made from a code with values. No decision reads a sentence: tests replace all
//! of them by their codes, and all decisions come out the same.

#[cfg(test)]
use std::cell::Cell;

#[cfg(test)]
thread_local! {
    static ONLY_CODES: Cell<bool> = const { Cell::new(false) };
}

/// A sentence, which is made from what has this code.
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
