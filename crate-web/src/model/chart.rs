//! The loss over the steps taken, drawn by `plotters` as SVG and then handed to the page's colours.

use plotters::prelude::*;
use plotters::style::RGBColor;

use super::number::{plain, short};

/// The size of the drawing, in CSS pixels.
const SIZE: (u32, u32) = (420, 240);
/// The most points drawn: a curve of more steps is sampled.
const POINTS: usize = 240;

/// Colours that stand for the page's own, which `plotters` cannot name.
const STAND_INS: [(RGBColor, &str, &str); 4] = [
    (RGBColor(1, 2, 3), "#010203", "var(--ok)"),
    (RGBColor(4, 5, 6), "#040506", "var(--line)"),
    (RGBColor(7, 8, 9), "#070809", "var(--ink-3)"),
    (RGBColor(10, 11, 12), "#0A0B0C", "var(--panel)"),
];

/// The curve as an `<svg>`; empty where there is nothing to draw.
pub fn chart(losses: &[f64]) -> String {
    let finite: Vec<(usize, f64)> =
        losses.iter().copied().enumerate().filter(|(_, loss)| loss.is_finite()).collect();
    let (Some((_, first)), Some((last_step, last))) = (finite.first(), finite.last()) else {
        return String::new();
    };
    let mut svg = String::new();
    if draw(&mut svg, &finite).is_none() {
        return String::new();
    }
    for (_, stand_in, colour) in STAND_INS {
        svg = svg.replace(stand_in, colour);
    }
    let label = format!(
        "The loss goes from {} to {} in {last_step} steps",
        short(*first, 7),
        short(*last, 7)
    );
    svg.replacen("<svg ", &format!("<svg class=\"chart\" role=\"img\" aria-label=\"{label}\" "), 1)
        .replace(" font-family=\"sans-serif\"", "")
}

/// None where `plotters` could not: a drawing into a text has no error that could be mended.
fn draw(svg: &mut String, losses: &[(usize, f64)]) -> Option<()> {
    let [curve, line, ink, panel] = STAND_INS.map(|(colour, ..)| colour);
    let least = losses.iter().map(|(_, loss)| *loss).fold(f64::INFINITY, f64::min);
    let most = losses.iter().map(|(_, loss)| *loss).fold(f64::NEG_INFINITY, f64::max);
    let air = if most > least { (most - least) * 0.08 } else { most.abs().max(1.0) * 0.1 };
    let last = losses.last().map_or(1, |(step, _)| (*step).max(1)) as f64;
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    let mut chart = ChartBuilder::on(&area)
        .margin_top(10)
        .margin_right(14)
        .x_label_area_size(26)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..last, least - air..most + air)
        .ok()?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(line)
        .axis_style(line)
        .label_style(("sans-serif", 13).into_font().color(&ink))
        .x_labels((last as usize + 1).clamp(2, 10))
        .y_labels(5)
        .x_label_formatter(&|step| plain(step.round()))
        .y_label_formatter(&|loss| short(*loss, 4))
        .draw()
        .ok()?;
    let stride = losses.len().div_ceil(POINTS);
    let end = losses.len() - 1;
    let points = losses
        .iter()
        .enumerate()
        .filter(|(ix, _)| ix % stride == 0 || *ix == end)
        .map(|(_, (step, loss))| (*step as f64, *loss));
    chart.draw_series(LineSeries::new(points.clone(), curve.stroke_width(2))).ok()?;
    if losses.len() <= 30 {
        chart.draw_series(points.clone().map(|at| Circle::new(at, 4, panel.filled()))).ok()?;
        chart.draw_series(points.map(|at| Circle::new(at, 3, curve.filled()))).ok()?;
    }
    drop(chart);
    area.present().ok()
}

#[cfg(test)]
mod tests {
    use super::chart;

    #[test]
    fn it_is_drawn_in_the_pages_colours() {
        let svg = chart(&[0.6, 0.4, 0.3]);
        assert!(svg.starts_with("<svg class=\"chart\" role=\"img\" aria-label=\"The loss goes from 0.6 to 0.3 in 2 steps\""));
        assert!(svg.contains("<polyline"));
        assert_eq!(svg.matches("<circle").count(), 6);
        assert!(svg.contains("var(--ok)"));
        assert!(!svg.contains('#'), "{svg}");
        assert!(!svg.contains("style="), "the content security policy forbids it: {svg}");
    }

    #[test]
    fn it_survives_any_numbers() {
        assert_eq!(chart(&[]), "");
        assert_eq!(chart(&[f64::NAN]), "");
        assert!(chart(&[1.0]).contains("<svg"));
        assert!(chart(&[2.0, 2.0]).contains("<polyline"));
        assert!(chart(&[1e300, f64::INFINITY, -1e300]).contains("<svg"));
        let long: Vec<f64> = (0..100_000).map(f64::from).collect();
        assert!(chart(&long).len() < 20_000);
    }
}
