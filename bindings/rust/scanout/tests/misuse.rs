//! What the C interface forbids does not compile: each file in `misuse` fails with the error in its first line, and one that keeps the rules does
//! not.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crate as cargo has built it beside the tests: libscanout-….rlib, the newest.
fn library(folder: &Path) -> PathBuf {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_library =
        |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("libscanout-") && path.extension() == Some("rlib".as_ref());
    files.filter(is_library).max_by_key(|path| path.metadata().unwrap().modified().unwrap()).unwrap()
}

/// The compiler's words; None: it had none.
fn compile(source: &Path) -> Option<String> {
    let folder = env::current_exe().unwrap().parent().unwrap().to_owned();
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let outcome = Command::new(rustc)
        .args(["--edition=2021", "--crate-type=lib", "--emit=metadata", "--out-dir"])
        .arg(env!("CARGO_TARGET_TMPDIR"))
        .arg("--extern")
        .arg(format!("scanout={}", library(&folder).display()))
        .arg("-L")
        .arg(format!("dependency={}", folder.display()))
        .arg(source)
        .output()
        .unwrap();
    if outcome.status.success() {
        None
    } else {
        Some(String::from_utf8_lossy(&outcome.stderr).into_owned())
    }
}

#[test]
fn what_is_forbidden_does_not_compile() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/misuse");
    let mut sources: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    sources.sort();
    assert!(sources.len() > 10);
    for source in sources {
        let text = fs::read_to_string(&source).unwrap();
        let expected = text.lines().next().unwrap().trim_start_matches("// ");
        match (expected, compile(&source)) {
            ("compiles", None) => {}
            ("compiles", Some(words)) => panic!("{}: {words}", source.display()),
            (_, None) => panic!("{} compiles", source.display()),
            (code, Some(words)) => {
                let codes: Vec<&str> = words.lines().filter_map(|line| line.strip_prefix("error[")?.split(']').next()).collect();
                assert_eq!(codes, [code], "{}: {words}", source.display());
            }
        }
    }
}
