//! Charts as SVG text: lines over a number, how numbers are spread, and points on a map.
//!
//! The background is transparent and every ink is of middle lightness, so that a chart can be read on a
//! light page and on a dark one.

use std::ops::Range;

use plotters::{coord::types::RangedCoordf64, prelude::*, style::text_anchor};

use crate::error::{Error, Result};

/// Pixels; SVG scales.
const SIZE: (u32, u32) = (720, 440);
/// More points than this on a line are not marked one by one.
const MARKED: usize = 40;
/// Pixels of a dash and of the gap behind it.
const DASH: [u32; 2] = [8, 5];
/// Bins of a histogram.
const BINS: usize = 40;
/// Axes and words: 4.5 : 1 against white and 4.7 : 1 against black.
const INK: RGBColor = RGBColor(118, 118, 118);
/// Okabe and Ito's colours, told apart by colour-blind people too; yellow and black, which one of the two
/// backgrounds swallows, are replaced by grey and brown.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(140, 140, 140),
    RGBColor(150, 90, 60),
];

type Canvas<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Axes<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// A named row of points `(x, y)`. Points that are not finite are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    /// Whether its line is broken: for what others are compared with.
    dashed: bool,
}

impl Series {
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.into(),
            points,
            dashed: false,
        }
    }

    /// With a broken line.
    pub fn dashed(self) -> Self {
        Self {
            dashed: true,
            ..self
        }
    }

    /// Whether it has nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.finite().next().is_none()
    }

    fn finite(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let points = self.points.iter().copied();
        points.filter(|(x, y)| x.is_finite() && y.is_finite())
    }
}

/// Lines of `y` over `x`, one a series, with a legend; SVG text.
///
/// # Errors
/// No series has a finite point.
pub fn line_chart(title: &str, x: &str, y: &str, series: &[Series]) -> Result<String> {
    draw(title, series, false, |axes| {
        mesh(axes, x, y)?;
        for (series, colour) in series.iter().zip(COLOURS.iter().cycle()) {
            let line: Vec<_> = series.finite().collect();
            let style = colour.stroke_width(2);
            if series.dashed {
                let [dash, gap] = DASH;
                axes.draw_series(DashedLineSeries::new(line, dash, gap, style))
                    .map_err(broken)?;
                continue;
            }
            let marked = line.len() <= MARKED;
            let dots = line.clone().into_iter().filter(|_| marked);
            axes.draw_series(dots.map(|at| Circle::new(at, 3, colour.filled())))
                .map_err(broken)?;
            axes.draw_series(LineSeries::new(line, style))
                .map_err(broken)?;
        }
        Ok(())
    })
}

/// How the numbers of each series are spread: the share of them in each of [`BINS`] bins of equal width that all series
/// share, as steps over a light filling, with a legend; SVG text. Numbers that are not finite are left out.
///
/// # Errors
/// There is no finite number.
pub fn histogram_chart(title: &str, x: &str, samples: &[(String, Vec<f64>)]) -> Result<String> {
    let finite = |numbers: &[f64]| -> Vec<f64> {
        let numbers = numbers.iter().copied();
        numbers.filter(|x| x.is_finite()).collect()
    };
    let samples: Vec<(&str, Vec<f64>)> = samples
        .iter()
        .map(|(name, numbers)| (name.as_str(), finite(numbers)))
        .collect();
    let all = samples.iter().flat_map(|(_, numbers)| numbers);
    let ends = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| {
        (low.min(x), high.max(x))
    });
    let series: Vec<Series> = samples
        .iter()
        .map(|(name, numbers)| Series::new(*name, steps(numbers, ends)))
        .collect();
    draw(title, &series, true, |axes| {
        mesh(axes, x, "share, %")?;
        for (series, colour) in series.iter().zip(COLOURS.iter().cycle()) {
            let outline: Vec<_> = series.finite().collect();
            axes.draw_series(std::iter::once(Polygon::new(
                outline.clone(),
                colour.mix(0.25),
            )))
            .map_err(broken)?;
            axes.draw_series(LineSeries::new(outline, colour.stroke_width(2)))
                .map_err(broken)?;
        }
        Ok(())
    })
}

/// The outline of a histogram over the bins between `low` and `high`, both ends included: from the axis up, along the
/// percentages of the numbers in the bins, and down again.
fn steps(numbers: &[f64], (low, high): (f64, f64)) -> Vec<(f64, f64)> {
    if numbers.is_empty() {
        return Vec::new();
    }
    // Numbers that are all one lie in the middle of bins around them.
    let (low, high) = match high > low {
        true => (low, high),
        false => (low - 0.5, high + 0.5),
    };
    let width = (high - low) / BINS as f64;
    let mut counts = [0usize; BINS];
    for x in numbers {
        let bin = ((x - low) / width) as usize;
        counts[bin.min(BINS - 1)] += 1;
    }
    let share = |count: usize| 100.0 * count as f64 / numbers.len() as f64;
    let mut outline = vec![(low, 0.0)];
    for (bin, &count) in counts.iter().enumerate() {
        let left = low + bin as f64 * width;
        outline.extend([(left, share(count)), (left + width, share(count))]);
    }
    outline.push((high, 0.0));
    outline
}

/// Points on a plane whose axes mean nothing (a t-SNE map), one colour a series, with a legend; SVG text.
///
/// # Errors
/// No series has a finite point.
pub fn scatter_chart(title: &str, series: &[Series]) -> Result<String> {
    labelled_chart(title, series, &[])
}

/// As [`scatter_chart`], with a text beside each point: `labels` are those of each series, in its points' order.
///
/// # Errors
/// As [`scatter_chart`].
pub fn labelled_chart(title: &str, series: &[Series], labels: &[Vec<&str>]) -> Result<String> {
    points_chart(title, series, labels, false)
}

/// As [`labelled_chart`], with a line from each point of a series to the point of the same place in the next.
///
/// # Errors
/// As [`scatter_chart`].
pub fn joined_chart(title: &str, series: &[Series], labels: &[Vec<&str>]) -> Result<String> {
    points_chart(title, series, labels, true)
}

fn points_chart(
    title: &str,
    series: &[Series],
    labels: &[Vec<&str>],
    joined: bool,
) -> Result<String> {
    draw(title, series, false, |axes| {
        if joined {
            let next = series.iter().zip(series.iter().skip(1));
            let ends = next.flat_map(|(from, to)| from.points.iter().zip(&to.points));
            let finite = |&(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
            let ends = ends.filter(|(from, to)| finite(from) && finite(to));
            axes.draw_series(
                ends.map(|(&from, &to)| PathElement::new(vec![from, to], INK.mix(0.25))),
            )
            .map_err(broken)?;
        }
        let coloured = series.iter().zip(COLOURS.iter().cycle());
        for (i, (series, colour)) in coloured.enumerate() {
            axes.draw_series(
                series
                    .finite()
                    .map(|at| Circle::new(at, 3, colour.mix(0.8).filled())),
            )
            .map_err(broken)?;
            let labels = labels.get(i).into_iter().flatten();
            let beside = series.points.iter().zip(labels);
            let beside = beside
                .filter(|((x, y), label)| x.is_finite() && y.is_finite() && !label.is_empty());
            axes.draw_series(beside.map(|(&at, label)| {
                // To the right of its point.
                EmptyElement::at(at) + Text::new((*label).to_owned(), (5, -5), words(9))
            }))
            .map_err(broken)?;
        }
        Ok(())
    })
}

/// Horizontal lines, and what the axes are.
fn mesh(axes: &mut Axes<'_, '_>, x: &str, y: &str) -> Result<()> {
    axes.configure_mesh()
        .disable_x_mesh()
        .bold_line_style(INK.mix(0.35))
        .light_line_style(TRANSPARENT)
        .axis_style(INK)
        .label_style(words(14))
        .axis_desc_style(words(15))
        .x_desc(x)
        .y_desc(y)
        .x_label_formatter(&number)
        .y_label_formatter(&number)
        .draw()
        .map_err(broken)
}

/// `grounded` says that y begins with the axis, at 0.
fn draw(
    title: &str,
    series: &[Series],
    grounded: bool,
    fill: impl FnOnce(&mut Axes<'_, '_>) -> Result<()>,
) -> Result<String> {
    let points = || series.iter().flat_map(Series::finite);
    let (Some(x), Some(y)) = (range(points().map(|p| p.0)), range(points().map(|p| p.1))) else {
        return Err(Error::InvalidArgument(format!(
            "the chart \"{title}\" has no points to draw."
        )));
    };
    let y = if grounded { 0.0..y.end } else { y };
    let mut svg = String::new();
    {
        let canvas: Canvas<'_> = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let centred = words(18).pos(text_anchor::Pos::new(
            text_anchor::HPos::Center,
            text_anchor::VPos::Top,
        ));
        canvas
            .draw(&Text::new(title, (SIZE.0 as i32 / 2, 10), centred))
            .map_err(broken)?;
        // The legend stands beside the chart, where it hides no point.
        let legend_width = match series.len() {
            1 => 24,
            _ => {
                let longest = series.iter().map(|s| s.name.chars().count()).max();
                (longest.unwrap_or(0) as u32 * 8 + 50).min(SIZE.0 / 2)
            }
        };
        let mut axes = ChartBuilder::on(&canvas)
            .margin_top(44)
            .margin_left(12)
            .margin_bottom(10)
            .margin_right(legend_width)
            .x_label_area_size(44)
            .y_label_area_size(60)
            .build_cartesian_2d(x, y)
            .map_err(broken)?;
        fill(&mut axes)?;
        legend(&canvas, series, legend_width)?;
        canvas.present().map_err(broken)?;
    }
    Ok(svg)
}

/// The names of the series beside their colours, at the right.
fn legend(canvas: &Canvas<'_>, series: &[Series], width: u32) -> Result<()> {
    if series.len() < 2 {
        return Ok(());
    }
    let left = (SIZE.0 - width) as i32 + 14;
    for (i, (series, colour)) in series.iter().zip(COLOURS.iter().cycle()).enumerate() {
        let y = 56 + 22 * i as i32;
        canvas
            .draw(&Rectangle::new(
                [(left, y), (left + 14, y + 10)],
                colour.filled(),
            ))
            .map_err(broken)?;
        canvas
            .draw(&Text::new(
                series.name.clone(),
                (left + 20, y - 2),
                words(14),
            ))
            .map_err(broken)?;
    }
    Ok(())
}

/// From the smallest to the largest value with a little room around; `None` without values.
fn range(values: impl Iterator<Item = f64>) -> Option<Range<f64>> {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
        (low.min(v), high.max(v))
    });
    let room = match high > low {
        true => 0.05 * (high - low),
        false => 0.5,
    };
    (low <= high).then_some(low - room..high + room)
}

/// A label without noise behind the comma.
fn number(value: &f64) -> String {
    let rounded = format!("{value:.3}");
    let short = rounded.trim_end_matches('0').trim_end_matches('.');
    match short {
        "-0" => "0".into(),
        _ => short.into(),
    }
}

fn words(size: u32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK)
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::InvalidArgument(format!("a chart cannot be drawn ({error})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_shows_its_words_and_every_finite_point() {
        let series = [
            Series::new("a < b", vec![(1.0, 0.5), (2.0, f64::NAN), (3.0, 0.75)]),
            Series::new("second", vec![(1.0, 0.25)]),
        ];
        let svg = line_chart("Loss", "epoch", "Spearman", &series).unwrap();
        for text in ["Loss", "epoch", "Spearman", "a &lt; b", "second"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        assert_eq!(svg.matches("<circle").count(), 3);
        assert!(!svg.contains("NaN"));
        let map = scatter_chart("Map", &series).unwrap();
        assert_eq!(map.matches("<circle").count(), 3);
        let words = [vec!["one", "two", "three"], vec![""]];
        let map = labelled_chart("Map", &series, &words).unwrap();
        assert!(
            map.contains("one") && map.contains("three") && !map.contains("two"),
            "{map}"
        );
        // Of the pairs of points the first is finite.
        let lines = |map: &str| map.matches("<polyline").count() + map.matches("<line").count();
        let joined = joined_chart("Map", &series, &words).unwrap();
        assert_eq!(lines(&joined), 1 + lines(&map));
    }

    #[test]
    fn a_reference_is_a_broken_line() {
        let flat = || Series::new("reference", vec![(0.0, 1.0), (100.0, 1.0)]);
        let lines = |series| line_chart("t", "x", "y", &[series]).unwrap();
        let parts = |svg: String| svg.matches("<polyline").count();
        assert!(parts(lines(flat().dashed())) > 20 + parts(lines(flat())));
    }

    #[test]
    fn a_histogram_counts_as_numpy_does() {
        // numpy.histogram([0, 0.1, 0.1, 0.26, 1], bins=40, range=(0, 1))[0]: 1 at 0, 2 at 4, 1 at 10, 1 at 39.
        let outline = steps(&[0.0, 0.1, 0.1, 0.26, 1.0], (0.0, 1.0));
        assert_eq!(outline.len(), 2 + 2 * BINS);
        let bin = |i: usize| outline[1 + 2 * i].1;
        let found: Vec<(usize, f64)> = (0..BINS)
            .map(|i| (i, bin(i)))
            .filter(|b| b.1 > 0.0)
            .collect();
        assert_eq!(found, [(0, 20.0), (4, 40.0), (10, 20.0), (39, 20.0)]);
        let [first, last] = [outline.first(), outline.last()];
        assert_eq!([first, last], [Some(&(0.0, 0.0)), Some(&(1.0, 0.0))]);
        // One number, many times.
        let one = steps(&[0.5; 7], (0.5, 0.5));
        assert_eq!(one.iter().filter(|p| p.1 == 100.0).count(), 2);

        let spread = [
            ("cond".to_owned(), vec![0.9, 0.91, f64::NAN]),
            ("cond − c".to_owned(), vec![0.2, 0.4]),
        ];
        let svg = histogram_chart("Spread", "cosine", &spread).unwrap();
        for text in ["Spread", "cosine", "share, %", "cond", "cond − c"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        assert_eq!(svg.matches("<polygon").count(), 2);
        assert!(!svg.contains("NaN"));
        let none = [("none".to_owned(), vec![f64::NAN])];
        assert!(histogram_chart("t", "x", &none).is_err());
    }

    #[test]
    fn nothing_to_draw_is_an_error_and_one_point_is_not() {
        let nothing = [Series::new("empty", vec![(f64::NAN, 1.0)])];
        assert_eq!(
            line_chart("t", "x", "y", &nothing).unwrap_err().code(),
            "invalid-argument"
        );
        line_chart("t", "x", "y", &[Series::new("one", vec![(1.0, 1.0)])]).unwrap();
    }

    #[test]
    fn labels_are_short() {
        let labels = [0.1 + 0.2, -0.0, 60.0, 0.0125].map(|v| number(&v));
        assert_eq!(labels, ["0.3", "0", "60", "0.013"].map(String::from));
    }
}
