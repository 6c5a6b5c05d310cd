//! Prompts that ask a language model to rate a row, as the C-STS paper has them (Deshpande et al., 2023, section 4.2 and
//! appendix B): an instruction or none, k rated examples, and the row without its rating, a line each.
//!
//! Examples are whole sentence pairs under both their conditions, the higher rating first, so that a model sees what a
//! condition changes; never the pair that is asked for.

use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};

use super::dataset::{Dataset, Row};
use crate::error::{Error, Result};

/// What stands before the examples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Instruction {
    /// nothing
    None,
    /// what is asked, in a sentence (figure 5)
    Short,
    /// the annotators' guidelines (figure 6)
    Long,
}

impl Instruction {
    /// Its text.
    pub fn text(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Short => Some(
                "On a scale between 1 and 5, how similar are the following two sentences with respect to the condition provided? Respond only with a score between 1 and 5.",
            ),
            Self::Long => Some(
                "Definition: Evaluate the similarity between the two sentences, with respect to the condition. Assign the pair a score between 1 and 5 as follows: \
                 1 : The two sentences are completely dissimilar with respect to the condition. \
                 2 : The two sentences are dissimilar, but are on a similar topic with respect to the condition. \
                 3 : The two sentences are roughly equivalent, but some important information differs or is missing with respect to the condition. \
                 4 : The two sentences are mostly equivalent, but some unimportant details differ with respect to the condition. \
                 5 : The two sentences are completely equivalent with respect to the condition.",
            ),
        }
    }
}

/// How a row's labels and texts are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Spacing {
    /// as the paper's figures print it
    Paper,
    /// as the authors' program asks causal models: two spaces after each label, one after `Output:`
    Causal,
    /// as the authors' program asks Flan-T5 and the like: no space after `Output:`
    T5,
}

impl Spacing {
    /// What follows `Input:` and each label of a text; what follows `Output:` where a prompt ends; what stands between that
    /// and an example's rating.
    fn gaps(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Paper => (" ", "", " "),
            Self::Causal => ("  ", " ", ""),
            Self::T5 => (" ", "", ""),
        }
    }
}

/// The prompt that asks what a sentence says about a condition, behind two examples: the answers of two sentences are compared in
/// place of the sentences (Tu et al., 2024, as CASE reports it in table 7).
pub fn asking(sentence: &str, condition: &str) -> String {
    const EXAMPLES: [[&str; 3]; 2] = [
        [
            "Two dogs run along the beach.",
            "the place",
            "along the beach",
        ],
        [
            "A grey-haired man mends a net.",
            "the age of the man",
            "old",
        ],
    ];
    let asked = |[sentence, condition, answer]: [&str; 3]| {
        format!("Sentence: {sentence}\nCondition: {condition}\nAnswer:{answer}")
    };
    let examples = EXAMPLES.map(|[s, c, answer]| asked([s, c, &format!(" {answer}")]));
    let instruction = "Say in a few words what the sentence says about the condition.";
    let parts: Vec<_> = [instruction.to_owned()]
        .into_iter()
        .chain(examples)
        .chain([asked([sentence, condition, ""])])
        .collect();
    parts.join("\n\n")
}

/// How prompts are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Prompting {
    /// What stands before the examples.
    pub instruction: Instruction,
    /// How many rated rows stand before the one that is asked for.
    pub shots: usize,
    /// How a row is written.
    pub spacing: Spacing,
    /// What the choice of examples follows from.
    pub seed: u64,
}

impl Prompting {
    /// The prompt for each row of `data`, with examples from `train`: the same for a row whatever other rows there are.
    ///
    /// # Errors
    /// `train` has fewer sentence pairs with two ratings than the examples of a row need.
    pub fn prompts(&self, data: &Dataset, train: &Dataset) -> Result<Vec<String>> {
        let rows = data.rows.iter().enumerate();
        rows.map(|(i, row)| Ok(self.prompt(row, &self.examples(i, row, train)?)))
            .collect()
    }

    /// The prompt for a row behind these examples.
    pub fn prompt(&self, row: &Row, examples: &[&Row]) -> String {
        let (_, _, before) = self.spacing.gaps();
        let instruction = self.instruction.text().map(str::to_owned);
        let examples = examples
            .iter()
            // As Python writes a float: 4.0.
            .map(|example| format!("{}{before}{:?}", self.question(example), example.rating));
        let lines: Vec<_> = instruction
            .into_iter()
            .chain(examples)
            .chain([self.question(row)])
            .collect();
        lines.join("\n")
    }

    fn question(&self, row: &Row) -> String {
        let (after, end, _) = self.spacing.gaps();
        let [sentence1, sentence2, condition] = row.texts();
        let (sentence1, sentence2) = (sentence1.trim(), sentence2.trim());
        format!(
            "Input:{after}Sentence 1:{after}{sentence1} Sentence 2:{after}{sentence2} Condition:{after}{condition} Output:{end}"
        )
    }

    /// The examples before row number `i`: as many sentence pairs as `shots` takes, drawn without putting back.
    fn examples<'a>(&self, i: usize, row: &Row, train: &'a Dataset) -> Result<Vec<&'a Row>> {
        let needed = self.shots.div_ceil(2);
        if needed == 0 {
            return Ok(Vec::new());
        }
        let pairs = (train.pairs.iter()).map(|&(a, b)| [&train.rows[a], &train.rows[b]]);
        let mut pairs: Vec<_> = pairs.filter(|[a, _]| !a.same_sentences(row)).collect();
        if pairs.len() < needed {
            return Err(Error::InvalidArgument(format!(
                "{} examples take {needed} sentence pairs with two ratings, and the training data has {} beside the row's own. Ask for fewer, or give more data.",
                self.shots,
                pairs.len()
            )));
        }
        let mut rng = StdRng::seed_from_u64(self.seed.wrapping_add((i as u64) << 32));
        let (drawn, _) = pairs.partial_shuffle(&mut rng, needed);
        let rows = drawn.iter().flat_map(|&[a, b]| match b.rating > a.rating {
            true => [b, a],
            false => [a, b],
        });
        Ok(rows.take(self.shots).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::columns::Columns;

    fn data(rows: &str) -> Dataset {
        let table = format!("sentence1,sentence2,condition,label\n{rows}");
        Dataset::from_columns("d.csv", &Columns::of_csv(&table)).unwrap()
    }

    const BUSES: &str = "Two red trams wait. , Three trams are on the move.,The kind of vehicle.,4\n\
                         Two red trams wait. , Three trams are on the move.,The number of trams.,1\n";
    const ROW: &str = "A diver swims below a boat.,A girl dives into a lake.,The place.,3\n";

    fn prompting(instruction: Instruction, shots: usize, spacing: Spacing) -> Prompting {
        Prompting {
            instruction,
            shots,
            spacing,
            seed: 0,
        }
    }

    /// The form of figure 5: the instruction, two examples of one sentence pair, and what is asked.
    #[test]
    fn a_prompt_has_the_papers_form() {
        let (train, asked) = (data(BUSES), data(ROW));
        let prompt = |p: Prompting| p.prompts(&asked, &train).unwrap().remove(0);
        let figure_5 = "On a scale between 1 and 5, how similar are the following two sentences with respect to the condition provided? Respond only with a score between 1 and 5.\n\
            Input: Sentence 1: Two red trams wait. Sentence 2: Three trams are on the move. Condition: The kind of vehicle. Output: 4.0\n\
            Input: Sentence 1: Two red trams wait. Sentence 2: Three trams are on the move. Condition: The number of trams. Output: 1.0\n\
            Input: Sentence 1: A diver swims below a boat. Sentence 2: A girl dives into a lake. Condition: The place. Output:";
        assert_eq!(
            prompt(prompting(Instruction::Short, 2, Spacing::Paper)),
            figure_5
        );
        // The authors' program, for models that go on with the text and for those that answer it.
        assert_eq!(
            prompt(prompting(Instruction::None, 1, Spacing::Causal)),
            "Input:  Sentence 1:  Two red trams wait. Sentence 2:  Three trams are on the move. Condition:  The kind of vehicle. Output: 4.0\n\
             Input:  Sentence 1:  A diver swims below a boat. Sentence 2:  A girl dives into a lake. Condition:  The place. Output: "
        );
        assert_eq!(
            prompt(prompting(Instruction::None, 1, Spacing::T5)),
            "Input: Sentence 1: Two red trams wait. Sentence 2: Three trams are on the move. Condition: The kind of vehicle. Output:4.0\n\
             Input: Sentence 1: A diver swims below a boat. Sentence 2: A girl dives into a lake. Condition: The place. Output:"
        );
        let long = prompt(prompting(Instruction::Long, 0, Spacing::Paper));
        let (definition, question) = long.split_once('\n').unwrap();
        assert!(definition.starts_with("Definition: Evaluate the similarity between the two sentences, with respect to the condition."));
        assert!(definition.ends_with(
            " 5 : The two sentences are completely equivalent with respect to the condition."
        ));
        assert!(question.starts_with("Input: ") && question.ends_with("Output:"));
    }

    #[test]
    fn examples_are_pairs_of_others_and_follow_from_the_seed() {
        let rows: String = (0..20)
            .flat_map(|i| [(i, "x", 1), (i, "y", 5)])
            .map(|(i, condition, label)| format!("first {i},second {i},{condition},{label}\n"))
            .collect();
        let train = data(&rows);
        let of = |seed, shots| {
            let prompting = Prompting {
                seed,
                ..prompting(Instruction::None, shots, Spacing::Paper)
            };
            prompting.prompts(&train, &train).unwrap()
        };
        let all = of(0, 4);
        assert_eq!(all, of(0, 4));
        assert_ne!(all, of(1, 4));
        let mut others = std::collections::HashSet::new();
        for (row, prompt) in train.rows.iter().zip(&all) {
            let lines: Vec<_> = prompt.lines().collect();
            assert_eq!(lines.len(), 5);
            for pair in lines[..4].chunks(2) {
                let sentences = |line: &str| line.split(" Condition:").next().map(str::to_owned);
                assert_eq!(sentences(pair[0]), sentences(pair[1]));
                assert!(pair[0].ends_with("Condition: y Output: 5.0"), "{pair:?}");
                assert!(pair[1].ends_with("Condition: x Output: 1.0"), "{pair:?}");
                assert!(!pair[0].contains(&format!("Sentence 1: {} ", row.sentence1)));
                others.insert(sentences(pair[0]));
            }
            assert_ne!(
                lines[0].split("Condition").next(),
                lines[2].split("Condition").next()
            );
        }
        assert_eq!(others.len(), 20);
        assert_eq!(of(0, 3)[0].lines().count(), 4);
        // There is no pair but the row's own.
        let alone = data(BUSES);
        let error = prompting(Instruction::None, 2, Spacing::Paper).prompts(&alone, &alone);
        assert!(error.unwrap_err().to_string().contains("has 0 beside"));
    }
}
