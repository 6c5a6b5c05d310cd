//! A report as it grows: Markdown, and the charts it shows.

use std::{fmt::Write, path::Path};

pub use crate::companion::output::percent;
use crate::{
    companion::{
        output::write_file,
        plot::{Series, line_chart},
    },
    error::Result,
};

/// A Markdown page and the SVG files beside it.
#[derive(Default)]
pub struct Page {
    text: String,
    charts: Vec<(String, String)>,
}

impl Page {
    pub fn heading(&mut self, title: &str) {
        let level = if self.text.is_empty() { "#" } else { "##" };
        self.paragraph(&format!("{level} {title}"));
    }

    pub fn paragraph(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// A table; every row has as many cells as there are columns. The first column is words, the others
    /// are figures.
    pub fn table(&mut self, columns: &[&str], rows: &[Vec<String>]) {
        let mut text = String::new();
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let cells: Vec<String> = cells.map(cell).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        text += &line(&mut columns.iter().copied());
        text += "|---|";
        text += &"---:|".repeat(columns.len().saturating_sub(1));
        text.push('\n');
        for row in rows {
            text += &line(&mut row.iter().map(String::as_str));
        }
        self.paragraph(text.trim_end());
    }

    /// A chart in a file of its own.
    pub fn chart(&mut self, file: &str, words: &str, svg: String) {
        self.paragraph(&format!("![{words}]({file})"));
        self.charts.push((file.into(), svg));
    }

    /// A chart of lines; where no line has a point, a sentence that says so.
    pub fn lines(
        &mut self,
        file: &str,
        title: &str,
        x: &str,
        y: &str,
        lines: &[Series],
    ) -> Result<()> {
        match lines.iter().all(Series::is_empty) {
            true => self.paragraph(&format!("{title}: there is nothing to draw.")),
            false => self.chart(file, title, line_chart(title, x, y, lines)?),
        }
        Ok(())
    }

    /// Writes report.md and the charts into a folder; what is there under the same names is replaced.
    pub fn write(&self, folder: &Path) -> Result<()> {
        for (file, svg) in &self.charts {
            write_file(&folder.join(file), svg.as_bytes())?;
        }
        write_file(&folder.join("report.md"), self.text.as_bytes())
    }
}

/// Text that cannot break a table or turn into markup.
fn cell(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '<' | '`' | '\\' => {
                safe.push('\\');
                safe.push(c);
            }
            '\n' | '\r' => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

/// A figure as it is, with so many digits behind the point; an en dash where it is undefined.
pub fn decimals(value: f64, digits: usize) -> String {
    match value.is_finite() {
        true => format!("{value:.digits$}"),
        false => "–".into(),
    }
}

/// Mean ± standard deviation × 100.
pub fn spread(s: &crate::evaluation::confidence::Spread) -> String {
    format!("{} ± {}", percent(s.mean), percent(s.std))
}

/// A figure × 100 with its interval.
pub fn with_interval(value: f64, interval: [f64; 2]) -> String {
    let mut text = percent(value);
    let _ = write!(text, " ({}–{})", percent(interval[0]), percent(interval[1]));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_cannot_break_its_table() {
        let mut page = Page::default();
        page.heading("Title");
        page.table(&["a", "b"], &[vec!["x | y\n<b>".into(), percent(0.5)]]);
        assert_eq!(
            page.text,
            "# Title\n\n| a | b |\n|---|---:|\n| x \\| y \\<b> | 50.00 |\n"
        );
        assert_eq!(percent(f64::NAN), "–");
        assert_eq!(
            (&*decimals(0.12345, 3), &*decimals(f64::NAN, 3)),
            ("0.123", "–")
        );
    }
}
