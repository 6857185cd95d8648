//! Functions that the server calls by name: the library's start and the mains of its background workers.

// The server looks these functions up by their names.
#![allow(unsafe_code)]

use pgrx::{pg_guard, pg_sys};

use crate::{
    api::{install, uninstall},
    pg::{
        checkpoint_hook, extension_statements, object_access, own_reads, process, settings, shmem,
    },
};

/// Called by the server when it loads the library.
#[pg_guard]
pub extern "C-unwind" fn _PG_init() {
    // SAFETY: a variable of the server, set while it loads shared_preload_libraries.
    let preloading = unsafe { pg_sys::process_shared_preload_libraries_in_progress };
    settings::define(preloading);
    if preloading {
        shmem::install_hooks();
        checkpoint_hook::install_hook();
        own_reads::install_hook();
        object_access::install_hook();
        extension_statements::install_hook(extension_statements::StatementHooks {
            before_drop: uninstall::before_drop,
            before_update: install::before_update,
            check_report: install::check_report,
        });
        process::register_janitor();
    }
}

macro_rules! worker_main {
    ($name:ident, $main:path) => {
        #[doc = concat!("Main of the background worker; see `", stringify!($main), "`.")]
        #[pg_guard]
        #[unsafe(no_mangle)]
        pub extern "C-unwind" fn $name(argument: pg_sys::Datum) {
            let (value, serial) = process::split_argument(argument);
            $main(value, serial)
        }
    };
}

worker_main!(fsbench_janitor_main, crate::process::janitor::main);
worker_main!(fsbench_coordinator_main, crate::process::coordinator::main);
worker_main!(fsbench_sampler_main, crate::process::sampler::main);
worker_main!(fsbench_client_main, crate::process::client::main);
worker_main!(fsbench_worker_main, crate::process::worker::main);
worker_main!(
    fsbench_helper_worker_main,
    crate::process::helper_worker::main
);
worker_main!(fsbench_conductor_main, crate::process::conductor::main);
