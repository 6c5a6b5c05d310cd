//! Error codes are written once, in `src/error.rs`: what the package's sources and README say of them is the same.
//! With CASELENS_WRITE_CODES=1 these tests write it there.

use std::{fs, path::PathBuf};

use caselens::error::{CODES, Code};

fn in_browsers() -> impl Iterator<Item = &'static Code> {
    CODES.iter().filter(|code| code.in_browsers)
}

fn repository(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Compares a file with what it should be, or writes that.
fn is(name: &str, expected: impl Fn(&str) -> String) {
    let path = repository(name);
    let text = fs::read_to_string(&path).unwrap();
    let expected = expected(&text);
    if std::env::var_os("CASELENS_WRITE_CODES").is_some_and(|v| v == "1") {
        fs::write(&path, expected).unwrap();
        return;
    }
    assert!(
        text == expected,
        "{name} says other things of error codes than src/error.rs: CASELENS_WRITE_CODES=1 cargo test --test suite errors writes them"
    );
}

/// `text` with `middle` between the line that begins with `from` and the next that begins with `to`.
fn between(text: &str, from: &str, to: &str, middle: &str) -> String {
    let start = text.find(from).unwrap_or_else(|| panic!("no {from:?}"));
    let start = start + text[start..].find('\n').unwrap() + 1;
    let end = start
        + text[start..]
            .find(to)
            .unwrap_or_else(|| panic!("no {to:?}"));
    format!("{}{middle}{}", &text[..start], &text[end..])
}

#[test]
fn the_packages_sources_list_the_engines_codes() {
    let comment: String = in_browsers()
        .map(|code| format!(" * - `{}`: {}.\n", code.name, code.meaning))
        .collect();
    let list: String = in_browsers()
        .map(|code| format!("  \"{}\",\n", code.name))
        .collect();
    is("pkg/src/errors.ts", |text| {
        let text = between(text, " * Of the engine", " *\n", &comment);
        between(&text, "const ENGINE_CODES = [", "] as const", &list)
    });
}

#[test]
fn the_packages_readme_lists_the_engines_codes() {
    is("pkg/README.md", |text| {
        let row = |code: &Code| {
            let begins = format!("| `{}` | ", code.name);
            let row = text.lines().find(|line| line.starts_with(&begins));
            // What to do about it is the package's own to say.
            let remedy = row.and_then(|row| row.trim_end_matches(" |").rsplit(" | ").next());
            let remedy = remedy.unwrap_or("the message says what to do");
            format!("| `{}` | {} | {remedy} |\n", code.name, code.meaning)
        };
        let rows: String = in_browsers().map(row).collect();
        let table = format!("|---|---|---|\n{rows}");
        between(text, "| code of the engine |", "\n\n", table.trim_end())
    });
}

#[test]
fn a_code_is_listed_once_and_errors_name_no_options() {
    let mut names: Vec<_> = CODES.iter().map(|code| code.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), CODES.len());
    let source = fs::read_to_string(repository("src/error.rs")).unwrap();
    let said = source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    for line in said {
        assert!(
            !line.contains(" --") && !line.contains("`caselens "),
            "{line}"
        );
    }
}
