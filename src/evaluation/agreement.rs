//! How far annotators agree beyond chance.

/// Fleiss' κ (Fleiss, 1971) of votes `[subjects][categories]`, each subject having as many votes as every other; `None` where
/// there are fewer than two votes a subject, where their numbers differ, or where all votes are for one category, of which
/// chance alone would make the same.
pub fn fleiss_kappa(votes: &[Vec<usize>]) -> Option<f64> {
    let raters: usize = votes.first()?.iter().sum();
    let even = votes
        .iter()
        .all(|subject| subject.iter().sum::<usize>() == raters);
    if raters < 2 || !even {
        return None;
    }
    let (subjects, n) = (votes.len() as f64, raters as f64);
    let agreeing = |subject: &Vec<usize>| {
        let squares: usize = subject.iter().map(|count| count * count).sum();
        (squares as f64 - n) / (n * (n - 1.0))
    };
    let observed = votes.iter().map(agreeing).sum::<f64>() / subjects;
    let categories = votes.iter().map(Vec::len).max()?;
    let share = |category: usize| {
        let of = votes.iter().filter_map(|subject| subject.get(category));
        of.sum::<usize>() as f64 / (subjects * n)
    };
    let by_chance: f64 = (0..categories)
        .map(|category| share(category).powi(2))
        .sum();
    let kappa = (observed - by_chance) / (1.0 - by_chance);
    kappa.is_finite().then_some(kappa)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_kappa_has_none() {
        assert_eq!(fleiss_kappa(&[]), None);
        assert_eq!(fleiss_kappa(&[vec![1, 0], vec![0, 1]]), None);
        assert_eq!(fleiss_kappa(&[vec![2, 0], vec![0, 1]]), None);
        assert_eq!(fleiss_kappa(&[vec![3, 0], vec![3, 0]]), None);
        assert_eq!(fleiss_kappa(&[vec![3, 0], vec![0, 3]]), Some(1.0));
    }
}
