//! Knowledge graphs: entities with their texts, relations with their words, and triples of them.
//!
//! Completing one is a matter of texts (SimKGC; Wang et al., 2022): which tail has a head under a relation? The head's text is the
//! sentence, the relation's words are the condition, and the tail's text is read by itself (CSR, section 3.2). A triple is
//! asked both ways: `(head, relation, tail)`, and `(tail, inverse relation, head)`.
//!
//! Files are separated by tabs and have no header:
//!
//! - triples: head, relation, tail;
//! - entities: name, words, definition, which may be left out;
//! - relations: name, words. Without this table a relation's words are those of its name.

use std::collections::{BTreeMap, HashMap};

use crate::error::{Error, Result};

/// A definition of fewer words is followed by the names of neighbours.
const SHORT: usize = 20;

/// A file's text, and what errors call it.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    /// Its name.
    pub name: &'a str,
    /// All of it.
    pub text: &'a str,
}

/// How the texts of entities are made and read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Most neighbours whose names follow a short definition.
    pub neighbours: usize,
    /// Longest input in tokens: what follows is not read. A relation is never cut.
    pub tokens: usize,
}

impl Default for Reading {
    /// As SimKGC reads.
    fn default() -> Self {
        Self {
            neighbours: 10,
            tokens: 50,
        }
    }
}

/// One of a graph's relations, or its inverse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Relation {
    /// Which one.
    pub number: u32,
    /// Whether it leads from tails to heads.
    pub inverse: bool,
}

/// What is true of two of a graph's entities, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Triple {
    /// The entity that is asked about.
    pub head: u32,
    /// What is asked of it.
    pub relation: Relation,
    /// The answer.
    pub tail: u32,
}

impl Triple {
    /// The same, asked the other way.
    pub fn inverse(self) -> Self {
        Self {
            head: self.tail,
            relation: Relation {
                inverse: !self.relation.inverse,
                ..self.relation
            },
            tail: self.head,
        }
    }

    /// Triples, each followed by its inverse.
    pub fn both_ways(triples: &[Self]) -> Vec<Self> {
        triples.iter().flat_map(|t| [*t, t.inverse()]).collect()
    }
}

/// The true tails of heads under relations, both ways.
#[derive(Debug, Default)]
pub struct Answers(HashMap<(u32, Relation), Vec<u32>>);

impl Answers {
    /// Those that some triples tell.
    pub fn of<'a>(triples: impl IntoIterator<Item = &'a Triple>) -> Self {
        let mut answers: HashMap<_, Vec<u32>> = HashMap::new();
        for triple in triples {
            for asked in [*triple, triple.inverse()] {
                let tails = answers.entry((asked.head, asked.relation));
                tails.or_default().push(asked.tail);
            }
        }
        for tails in answers.values_mut() {
            tails.sort_unstable();
            tails.dedup();
        }
        Self(answers)
    }

    /// All that are true beside a triple's own tail too, in rising order.
    pub fn tails(&self, triple: &Triple) -> &[u32] {
        let tails = self.0.get(&(triple.head, triple.relation));
        tails.map_or(&[], Vec::as_slice)
    }

    /// Whether an entity is one of the tails of a triple's head under its relation.
    pub fn hold(&self, triple: &Triple, tail: u32) -> bool {
        self.tails(triple).binary_search(&tail).is_ok()
    }
}

#[derive(Debug)]
struct Entity {
    name: String,
    words: String,
    definition: String,
}

/// A knowledge graph, as far as training may know it.
#[derive(Debug)]
pub struct Graph {
    entities: Vec<Entity>,
    numbers: HashMap<String, u32>,
    /// The words of each relation and of its inverse.
    relations: Vec<[String; 2]>,
    relation_numbers: HashMap<String, u32>,
    /// Where relations are from.
    relations_from: String,
    neighbours: Vec<Vec<u32>>,
    /// What training reads.
    pub training: Vec<Triple>,
    /// How texts are made.
    pub reading: Reading,
}

impl Graph {
    /// Reads a graph and the triples that it is learnt from. Without a table of `relations` there are those that these triples
    /// have.
    ///
    /// # Errors
    /// A row is broken, an entity or a relation is there twice, has no words or is not known, two relations have the same
    /// words, or there is no triple.
    pub fn new(
        entities: File<'_>,
        relations: Option<File<'_>>,
        training: File<'_>,
        reading: Reading,
    ) -> Result<Self> {
        let (all, numbers) = read_entities(entities)?;
        let (words, relation_numbers) = read_relations(relations, training)?;
        let mut graph = Self {
            neighbours: vec![Vec::new(); all.len()],
            entities: all,
            numbers,
            relations: words,
            relation_numbers,
            relations_from: relations.unwrap_or(training).name.to_owned(),
            training: Vec::new(),
            reading,
        };
        graph.training = graph.triples(training)?;
        for triple in &graph.training {
            let Triple { head, tail, .. } = *triple;
            graph.neighbours[head as usize].push(tail);
            graph.neighbours[tail as usize].push(head);
        }
        for near in &mut graph.neighbours {
            near.sort_unstable_by_key(|&n| &graph.entities[n as usize].name);
            near.dedup();
            near.truncate(reading.neighbours);
        }
        Ok(graph)
    }

    /// The triples of a file.
    ///
    /// # Errors
    /// A row is broken, an entity or a relation is not known, or there is no triple.
    pub fn triples(&self, file: File<'_>) -> Result<Vec<Triple>> {
        let triple = |(row, fields): (usize, Vec<&str>)| {
            let [head, relation, tail] = three(file, row, &fields)?;
            let entity = |name: &str| {
                self.numbers.get(name).copied().ok_or_else(|| {
                    wrong(
                        file,
                        row,
                        format!(
                            "the entity `{name}` has no text. Add it to the table of entities, or leave the triple out."
                        ),
                    )
                })
            };
            let number = self.relation_numbers.get(relation).copied().ok_or_else(|| {
                wrong(
                    file,
                    row,
                    format!(
                        "{} has no relation `{relation}`. Add it there, or leave the triple out.",
                        self.relations_from
                    ),
                )
            })?;
            Ok(Triple {
                head: entity(head)?,
                relation: Relation {
                    number,
                    inverse: false,
                },
                tail: entity(tail)?,
            })
        };
        let triples = rows(file).map(triple).collect::<Result<Vec<_>>>()?;
        match triples.is_empty() {
            true => Err(Error::InvalidArgument(format!(
                "{} holds no triple. Each line has a head, a relation and a tail, separated by tabs.",
                file.name
            ))),
            false => Ok(triples),
        }
    }

    /// How many entities there are: their numbers are less.
    pub fn entities(&self) -> u32 {
        self.entities.len() as u32
    }

    /// How many relations there are, inverse ones not counted.
    pub fn relations(&self) -> usize {
        self.relations.len()
    }

    /// The words of a relation.
    pub fn words(&self, relation: Relation) -> &str {
        &self.relations[relation.number as usize][usize::from(relation.inverse)]
    }

    /// An entity's text: "words: definition", and behind a short definition the names of its neighbours in training, of which
    /// what is `asked` for is none.
    pub fn text(&self, entity: u32, asked: Option<u32>) -> String {
        let Entity {
            words, definition, ..
        } = &self.entities[entity as usize];
        let mut parts = vec![without(definition, words)];
        if definition.split_whitespace().count() < SHORT {
            let near = self.neighbours[entity as usize].iter();
            let near = near.filter(|near| Some(**near) != asked);
            parts.extend(near.map(|&near| self.entities[near as usize].words.as_str()));
        }
        parts.retain(|part| !part.is_empty());
        match parts.is_empty() {
            true => words.clone(),
            false => format!("{words}: {}", parts.join(" ")),
        }
    }
}

/// A definition without the words that it begins with, where those are what it defines.
fn without<'a>(definition: &'a str, words: &str) -> &'a str {
    match definition.strip_prefix(words) {
        Some(rest) if !rest.starts_with(char::is_alphanumeric) => rest.trim(),
        _ => definition,
    }
}

/// The words of a name such as `_derivationally_related_form` or `/people/person/nationality`.
fn words_of(name: &str) -> String {
    let words = name.split(|c: char| c == '_' || c == '/' || c.is_whitespace());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

fn wrong(file: File<'_>, row: usize, reason: impl Into<String>) -> Error {
    Error::Data {
        file: file.name.into(),
        row,
        reason: reason.into(),
    }
}

/// The lines of a file that hold anything, each with its number, from 1, and its fields.
fn rows(file: File<'_>) -> impl Iterator<Item = (usize, Vec<&str>)> {
    let text = file.text.strip_prefix('\u{feff}').unwrap_or(file.text);
    let lines = (1..).zip(text.lines());
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(row, line)| (row, line.split('\t').map(str::trim).collect()))
}

/// The fields of a triple.
fn three<'a>(file: File<'_>, row: usize, fields: &[&'a str]) -> Result<[&'a str; 3]> {
    match *fields {
        [head, relation, tail] if fields.iter().all(|field| !field.is_empty()) => {
            Ok([head, relation, tail])
        }
        _ => Err(wrong(
            file,
            row,
            "it is not a head, a relation and a tail, separated by tabs.",
        )),
    }
}

fn read_entities(file: File<'_>) -> Result<(Vec<Entity>, HashMap<String, u32>)> {
    let mut numbers = HashMap::new();
    let mut entities = Vec::new();
    for (row, fields) in rows(file) {
        let (name, words, definition) = match *fields.as_slice() {
            [name, words] => (name, words, ""),
            [name, words, definition] => (name, words, definition),
            _ => {
                return Err(wrong(
                    file,
                    row,
                    "it is not an entity's name, its words and its definition, separated by tabs.",
                ));
            }
        };
        if name.is_empty() || words.is_empty() {
            return Err(wrong(
                file,
                row,
                format!("the entity `{name}` has no text. Give it a name, and words."),
            ));
        }
        if numbers
            .insert(name.to_owned(), entities.len() as u32)
            .is_some()
        {
            return Err(wrong(
                file,
                row,
                format!("the entity `{name}` is there already. Leave one of the two out."),
            ));
        }
        entities.push(Entity {
            name: name.into(),
            words: words.into(),
            definition: definition.into(),
        });
    }
    match entities.is_empty() {
        true => Err(Error::InvalidArgument(format!(
            "{} holds no entity. Each line has an entity's name, its words and its definition, separated by tabs.",
            file.name
        ))),
        false => Ok((entities, numbers)),
    }
}

/// The words of each relation and of its inverse, and the numbers of relations by their names.
type Relations = (Vec<[String; 2]>, HashMap<String, u32>);

/// Those of the table, else those of the triples.
fn read_relations(table: Option<File<'_>>, training: File<'_>) -> Result<Relations> {
    let file = table.unwrap_or(training);
    let mut relations = Vec::new();
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut known: BTreeMap<String, &str> = BTreeMap::new();
    for (row, fields) in rows(file) {
        let (name, words) = match (table, fields.as_slice()) {
            (None, fields) => {
                let [_, name, _] = three(file, row, fields)?;
                if numbers.contains_key(name) {
                    continue;
                }
                (name, words_of(name))
            }
            (Some(_), &[name, words]) if !name.is_empty() => (name, words.to_owned()),
            (Some(_), _) => {
                return Err(wrong(
                    file,
                    row,
                    "it is not a relation's name and its words, separated by tabs.",
                ));
            }
        };
        if words.is_empty() {
            return Err(wrong(
                file,
                row,
                format!(
                    "the relation `{name}` has no words. Give it some in a table of relations."
                ),
            ));
        }
        if let Some(other) = known.insert(words.clone(), name) {
            return Err(wrong(
                file,
                row,
                format!(
                    "the relation `{name}` reads \"{words}\", as `{other}` does: nothing tells them apart. Give them other words in a table of relations."
                ),
            ));
        }
        if numbers
            .insert(name.to_owned(), relations.len() as u32)
            .is_some()
        {
            return Err(wrong(
                file,
                row,
                format!("the relation `{name}` is there already. Leave one of the two out."),
            ));
        }
        relations.push([words.clone(), format!("inverse {words}")]);
    }
    Ok((relations, numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTITIES: &str = "dog.n\tdog\tdog, a domestic animal\nanimal.n\tanimal\t\nbark.v\tbark\nlong.n\tlong\ta b c d e f g h i j k l m n o p q r s t u v w\n";

    fn file<'a>(name: &'a str, text: &'a str) -> File<'a> {
        File { name, text }
    }

    fn graph(relations: Option<&str>, training: &str) -> Result<Graph> {
        Graph::new(
            file("entities.tsv", ENTITIES),
            relations.map(|text| file("relations.tsv", text)),
            file("train.txt", training),
            Reading::default(),
        )
    }

    #[test]
    fn a_short_text_is_followed_by_the_names_of_neighbours_but_of_the_one_asked_for() {
        let training =
            "dog.n\t_hypernym\tanimal.n\nbark.v\t_agent_of\tdog.n\nlong.n\t_hypernym\tdog.n\r\n";
        let graph = graph(None, training).unwrap();
        let [first, second, _] = graph.training.as_slice() else {
            panic!("{:?}", graph.training);
        };
        // By their names: animal.n, bark.v, long.n.
        assert_eq!(
            graph.text(0, None),
            "dog: , a domestic animal animal bark long"
        );
        assert_eq!(
            graph.text(0, Some(first.tail)),
            "dog: , a domestic animal bark long"
        );
        assert_eq!(graph.text(1, Some(0)), "animal");
        assert_eq!(graph.text(1, None), "animal: dog");
        // Twenty words and more are enough.
        assert!(graph.text(3, None).ends_with("u v w"));
        assert_eq!(graph.words(second.relation), "agent of");
        assert_eq!(graph.words(second.inverse().relation), "inverse agent of");
        assert_eq!(second.inverse().inverse(), *second);
        assert_eq!((graph.entities(), graph.relations()), (4, 2));
    }

    #[test]
    fn answers_are_those_of_either_way() {
        let training = "dog.n\tr\tanimal.n\ndog.n\tr\tbark.v\nlong.n\tr\tanimal.n\n";
        let graph = graph(None, training).unwrap();
        let answers = Answers::of(&graph.training);
        let first = graph.training[0];
        assert_eq!(answers.tails(&first), [1, 2]);
        assert_eq!(answers.tails(&first.inverse()), [0, 3]);
        assert!(answers.hold(&first, 2) && !answers.hold(&first, 3));
        assert_eq!(Triple::both_ways(&graph.training).len(), 6);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_row_and_name() {
        let error = |relations, training| graph(relations, training).unwrap_err().to_string();
        for (relations, training, parts) in [
            (
                None,
                "dog.n\tr\tcat.n\n",
                ["train.txt, row 1", "`cat.n` has no text"],
            ),
            (
                None,
                "\ndog.n\tr\n",
                ["train.txt, row 2", "a head, a relation and a tail"],
            ),
            (
                None,
                "dog.n\tr\t\n",
                ["train.txt, row 1", "separated by tabs"],
            ),
            (None, "\n", ["train.txt", "no triple"]),
            (
                Some("r\tis a\n"),
                "dog.n\tr\tbark.v\ndog.n\ts\tbark.v\n",
                ["train.txt, row 2", "relations.tsv has no relation `s`"],
            ),
            (
                Some("r\n"),
                "",
                ["relations.tsv, row 1", "a relation's name and its words"],
            ),
            (
                Some("r\tis a\nr\tis b\n"),
                "",
                ["relations.tsv, row 2", "`r` is there already"],
            ),
            (
                None,
                "dog.n\t_r\tbark.v\ndog.n\tr\tbark.v\n",
                ["train.txt, row 2", "`r` reads \"r\", as `_r` does"],
            ),
            (
                None,
                "dog.n\t_\tbark.v\n",
                ["train.txt, row 1", "`_` has no words"],
            ),
        ] {
            let said = error(relations, training);
            assert!(parts.iter().all(|part| said.contains(part)), "{said}");
        }
        let known = graph(None, "dog.n\tr\tbark.v\n").unwrap();
        let said = known.triples(file("test.txt", "dog.n\ts\tbark.v\n"));
        let said = said.unwrap_err().to_string();
        assert!(
            said.contains("test.txt, row 1: train.txt has no relation `s`"),
            "{said}"
        );
        for (entities, part) in [
            ("a\n", "row 1: it is not an entity's name"),
            ("a\t\n", "`a` has no text"),
            ("a\tb\na\tc\n", "row 2: the entity `a` is there already"),
            ("", "holds no entity"),
        ] {
            let training = file("train.txt", "a\tr\ta");
            let said = Graph::new(
                file("entities.tsv", entities),
                None,
                training,
                Reading::default(),
            );
            let said = said.unwrap_err().to_string();
            assert!(
                said.contains("entities.tsv") && said.contains(part),
                "{said}"
            );
        }
    }
}
