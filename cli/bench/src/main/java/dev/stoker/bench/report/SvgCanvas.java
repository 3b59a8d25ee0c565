package dev.stoker.bench.report;

import java.util.Locale;

/** Draws into an SVG document without scripts, styles or references. */
final class SvgCanvas implements Canvas {
    private final StringBuilder body = new StringBuilder();
    private final int width;
    private final int height;
    private final String title;

    SvgCanvas(int width, int height, String title) {
        this.width = width;
        this.height = height;
        this.title = title;
    }

    @Override
    public void line(double x1, double y1, double x2, double y2, String color, Stroke stroke) {
        add(
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%s\"%s/>",
                x1,
                y1,
                x2,
                y2,
                color,
                stroke == Stroke.THIN ? "1" : "2",
                stroke == Stroke.DASHED ? " stroke-dasharray=\"6 4\"" : "");
    }

    @Override
    public void circle(double x, double y, double radius, String color, String fill) {
        add(
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" stroke=\"%s\" stroke-width=\"1.5\" fill=\"%s\"/>",
                x, y, radius, color, fill.isEmpty() ? "none" : fill);
    }

    @Override
    public void diamond(double x, double y, double radius, String color, String fill) {
        add(
                "<polygon points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f %.1f,%.1f\" stroke=\"%s\" stroke-width=\"1.5\""
                        + " fill=\"%s\"/>",
                x, y - radius, x + radius, y, x, y + radius, x - radius, y, color, fill.isEmpty() ? "none" : fill);
    }

    @Override
    public void text(double x, double y, String text, int size, Anchor anchor, String color) {
        add(
                "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" text-anchor=\"%s\" fill=\"%s\">%s</text>",
                x, y, size, anchor.name().toLowerCase(Locale.ROOT), color, Amounts.escaped(text));
    }

    @Override
    public void area(double[] corners, String fill) {
        StringBuilder path = new StringBuilder();
        for (int i = 0; i < corners.length; i += 2) {
            path.append(String.format(Locale.ROOT, "%s%.1f %.1f ", i == 0 ? "M" : "L", corners[i], corners[i + 1]));
        }
        add("<path d=\"%sZ\" fill=\"%s\"/>", path, fill);
    }

    @Override
    public void turned(double x, double y, double degrees, String text, int size, String color) {
        add(
                "<text x=\"%.1f\" y=\"%.1f\" transform=\"rotate(%.1f %.1f %.1f)\" font-size=\"%d\" fill=\"%s\">%s"
                        + "</text>",
                x, y, degrees, x, y, size, color, Amounts.escaped(text));
    }

    private void add(String format, Object... values) {
        body.append(String.format(Locale.ROOT, format, values)).append('\n');
    }

    String document() {
        return String.format(
                        Locale.ROOT,
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\""
                                + " font-family=\"sans-serif\" role=\"img\">%n<title>%s</title>%n"
                                + "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>%n",
                        width,
                        height,
                        width,
                        height,
                        Amounts.escaped(title),
                        width,
                        height)
                + body + "</svg>\n";
    }
}
