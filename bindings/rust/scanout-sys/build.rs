//! Finds libscanout: the folder in SCANOUT_LIB_DIR, else the one that pkg-config names.

use std::env;
use std::process::Command;

fn main() {
    for name in ["SCANOUT_LIB_DIR", "PKG_CONFIG", "PKG_CONFIG_PATH"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let folder = match env::var("SCANOUT_LIB_DIR") {
        Ok(folder) => folder,
        Err(_) => ask_pkg_config(),
    };
    println!("cargo:rustc-link-search=native={folder}");
    println!("cargo:rustc-link-lib=dylib=scanout");
}

fn ask_pkg_config() -> String {
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".to_owned());
    match Command::new(&program).args(["--variable=libdir", "scanout"]).output() {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        Ok(output) => panic!(
            "libscanout was not found ({}); install it with scripts/install, or name its folder in SCANOUT_LIB_DIR.",
            String::from_utf8_lossy(&output.stderr).trim()
        ),
        Err(error) => panic!("{program} cannot be run ({error}); name the folder of libscanout in SCANOUT_LIB_DIR."),
    }
}
