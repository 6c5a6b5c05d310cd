//! Charts as SVG text: lines over a number, and points on a map.
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
}

impl Series {
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.into(),
            points,
        }
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
    draw(title, series, |axes| {
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
            .map_err(broken)?;
        for (series, colour) in series.iter().zip(COLOURS.iter().cycle()) {
            let line: Vec<_> = series.finite().collect();
            let marked = line.len() <= MARKED;
            let dots = line.clone().into_iter().filter(|_| marked);
            axes.draw_series(dots.map(|at| Circle::new(at, 3, colour.filled())))
                .map_err(broken)?;
            axes.draw_series(LineSeries::new(line, colour.stroke_width(2)))
                .map_err(broken)?;
        }
        Ok(())
    })
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
    draw(title, series, |axes| {
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

fn draw(
    title: &str,
    series: &[Series],
    fill: impl FnOnce(&mut Axes<'_, '_>) -> Result<()>,
) -> Result<String> {
    let points = || series.iter().flat_map(Series::finite);
    let (Some(x), Some(y)) = (range(points().map(|p| p.0)), range(points().map(|p| p.1))) else {
        return Err(Error::InvalidArgument(format!(
            "the chart \"{title}\" has no points to draw."
        )));
    };
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
