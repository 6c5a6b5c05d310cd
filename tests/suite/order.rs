//! The order of the house: what stands below imports nothing of what stands above, and no two files import each
//! other in a circle. Both are told from the paths that the files of src name.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// src's folders from the ground up.
const ORDER: [&str; 18] = [
    "guard",
    "error",
    "similarity",
    "text",
    "vectors",
    "checkpoint",
    "data",
    "backend",
    "model",
    "embedding",
    "head",
    "lens",
    "evaluation",
    "quantization",
    "training",
    "bundle",
    "web",
    "companion",
];

/// A path that a file names, in full and without `crate::`.
struct Named {
    line: usize,
    path: String,
    name: Name,
}

/// What a file calls what it names from then on.
enum Name {
    /// It names it in this one place.
    None,
    Own(String),
    /// So may others: a re-export, which by itself needs nothing of what it passes on.
    Public(String),
}

impl Name {
    fn is(&self, name: &str) -> bool {
        matches!(self, Self::Own(own) | Self::Public(own) if own == name)
    }
}

/// The files of src by their module's path (`checkpoint::gguf`; the crate's root is empty), each with what it names.
struct House {
    files: BTreeMap<String, (PathBuf, Vec<Named>)>,
}

impl House {
    fn read() -> Self {
        let src = Path::new("src").to_owned(); // where cargo runs tests
        let mut folders = vec![src.clone()];
        let mut texts = BTreeMap::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let module = path.strip_prefix(&src).unwrap().with_extension("");
                let module = module.to_str().unwrap().replace(['/', '\\'], "::");
                match module.as_str() {
                    _ if path.is_dir() => folders.push(path),
                    "main" => {}
                    "lib" => drop(texts.insert(String::new(), path)),
                    _ if path.extension().is_some_and(|e| e == "rs") => {
                        texts.insert(module, path);
                    }
                    _ => {}
                }
            }
        }
        let modules: BTreeSet<String> = texts.keys().cloned().collect();
        let files = texts.into_iter().map(|(module, path)| {
            let named = named(&fs::read_to_string(&path).unwrap())
                .into_iter()
                .filter_map(|(line, path, name)| {
                    let path = absolute(&modules, &module, &path)?;
                    Some(Named { line, path, name })
                });
            let named = named.collect();
            (module, (path, named))
        });
        Self {
            files: files.collect(),
        }
    }

    /// The module whose file defines what a path names: what a file imports, it passes on.
    fn home(&self, path: &str) -> String {
        let parts: Vec<&str> = path.split("::").collect();
        let (module, rest) = (0..=parts.len())
            .rev()
            .map(|n| (parts[..n].join("::"), &parts[n..]))
            .find(|(module, _)| self.files.contains_key(module))
            .unwrap();
        let (_, named) = &self.files[&module];
        let passed_on = rest
            .first()
            .and_then(|first| named.iter().find(|n| n.name.is(first) && n.path != path));
        match passed_on {
            Some(named) => self.home(&[&[named.path.as_str()], &rest[1..]].concat().join("::")),
            None => module,
        }
    }
}

/// The paths that a file names outside its comments and tests, as they are written.
fn named(text: &str) -> Vec<(usize, String, Name)> {
    let code = text
        .split_once("#[cfg(test)]\nmod tests")
        .map_or(text, |(code, _)| code);
    let mut lines = code.lines().zip(1..);
    let mut found = Vec::new();
    while let Some((text, line)) = lines.next() {
        if text.trim_start().starts_with("//") {
            continue;
        }
        match text.split_once("use ") {
            Some((before, tree))
                if matches!(before.trim(), "" | "pub" | "pub(crate)" | "pub(super)") =>
            {
                let mut tree = tree.to_owned();
                while !tree.contains(';') {
                    tree += lines.next().unwrap().0.trim();
                }
                for path in branches(tree.trim_end_matches(';')) {
                    let (path, name) = match path.split_once(" as ") {
                        Some((path, name)) => (path, name),
                        None => {
                            let path = path.trim_end_matches("::self");
                            (path, path.rsplit("::").next().unwrap())
                        }
                    };
                    let name = match before.trim() {
                        "" => Name::Own(name.to_owned()),
                        _ => Name::Public(name.to_owned()),
                    };
                    found.push((line, path.to_owned(), name));
                }
            }
            _ => {
                let words = text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
                let paths = words.filter(|w| w.starts_with("crate::") || w.starts_with("super::"));
                found.extend(
                    paths.map(|path| (line, path.trim_end_matches(':').to_owned(), Name::None)),
                );
            }
        }
    }
    found
}

/// The paths of a use tree: `a::{b, c::{d, e}}` is `a::b`, `a::c::d` and `a::c::e`.
fn branches(tree: &str) -> Vec<String> {
    let Some((stem, rest)) = tree.split_once('{') else {
        return vec![tree.trim().to_owned()];
    };
    let mut depth = 0;
    let parts = rest[..rest.rfind('}').unwrap()].split(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    parts
        .filter(|part| !part.trim().is_empty())
        .flat_map(branches)
        .map(|path| format!("{}{path}", stem.trim()))
        .collect()
}

/// A path as it is written in a module, from the crate's root; none where it is of another crate.
fn absolute(modules: &BTreeSet<String>, module: &str, path: &str) -> Option<String> {
    let below = |module: &str, rest: &str| match module {
        "" => rest.to_owned(),
        _ => format!("{module}::{rest}"),
    };
    let parent = |module: &str| module.rsplit_once("::").map_or("", |(p, _)| p).to_owned();
    let (first, rest) = path.split_once("::").unwrap_or((path, ""));
    match first {
        "crate" => Some(rest.to_owned()),
        "self" => Some(below(module, rest)),
        "super" => {
            let (mut above, mut rest) = (parent(module), rest);
            while let Some(further) = rest.strip_prefix("super::") {
                (above, rest) = (parent(&above), further);
            }
            Some(below(&above, rest))
        }
        _ => modules
            .contains(&below(module, first))
            .then(|| below(module, path)),
    }
}

#[test]
fn no_import_runs_back_up() {
    let house = House::read();
    let floor = |path: &str| {
        let folder = path.split("::").next().unwrap();
        ORDER.iter().position(|&name| name == folder)
    };
    let mut offenders = Vec::new();
    for (module, (file, named)) in house.files.iter().filter(|(module, _)| !module.is_empty()) {
        let own = floor(module).unwrap_or_else(|| panic!("ORDER lacks the folder of {module}"));
        for Named { line, path, .. } in named {
            let named = floor(path).max(floor(&house.home(path)));
            if named.is_some_and(|named| named > own) {
                offenders.push(format!("{}:{line} names {path}", file.display()));
            }
        }
    }
    assert!(offenders.is_empty(), "{offenders:#?}");
}

/// The other files that a file imports, each with the line that does.
type Imports<'a> = BTreeMap<&'a str, Vec<(String, String)>>;

/// All that a file imports, and what that imports, and so on.
fn reached<'a>(imports: &'a Imports, from: &'a str) -> BTreeSet<&'a str> {
    let (mut reached, mut left) = (BTreeSet::new(), vec![from]);
    while let Some(module) = left.pop() {
        let new = imports[module].iter().map(|(other, _)| other.as_str());
        left.extend(new.filter(|&other| reached.insert(other)));
    }
    reached
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let house = House::read();
    let imports: Imports = house
        .files
        .iter()
        .map(|(module, (file, named))| {
            let line = |n: &Named| format!("{}:{} names {}", file.display(), n.line, n.path);
            let named = named.iter().filter(|n| !matches!(n.name, Name::Public(_)));
            let others = named.map(|n| (house.home(&n.path), line(n)));
            (
                module.as_str(),
                others.filter(|(other, _)| other != module).collect(),
            )
        })
        .collect();
    let reached: BTreeMap<_, _> = imports.keys().map(|&m| (m, reached(&imports, m))).collect();
    let mut circles = BTreeSet::new();
    for (&module, above) in &reached {
        let circle = above
            .iter()
            .filter(|other| reached[**other].contains(module));
        circles.insert(circle.copied().collect::<BTreeSet<&str>>());
    }
    let said: Vec<Vec<&str>> = circles
        .iter()
        .map(|circle| {
            let within = circle.iter().flat_map(|&module| &imports[module]);
            let within = within.filter(|(other, _)| circle.contains(other.as_str()));
            within.map(|(_, line)| line.as_str()).collect()
        })
        .filter(|circle: &Vec<_>| !circle.is_empty())
        .collect();
    assert!(said.is_empty(), "{} circles: {said:#?}", said.len());
}
