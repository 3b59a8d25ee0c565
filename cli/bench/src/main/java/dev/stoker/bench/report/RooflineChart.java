package dev.stoker.bench.report;

import dev.stoker.bench.demand.Shape;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;

/**
 * Draws a roofline: samples a second over bytes of a sample, both logarithmic. A resource that allows some bytes a
 * second is a falling line. Feeds are numbered circles, one accelerator of each shape is a diamond.
 */
public final class RooflineChart {

    static final int WIDTH = 1000;
    static final int HEIGHT = 620;

    private static final int LEFT = 80;
    private static final int RIGHT = 640;
    private static final int TOP = 30;
    private static final int BOTTOM = 560;
    private static final int LEGEND = 665;
    private static final int LINE = 19;
    private static final int LONGEST = 46;
    /** Distance of a name from its mark, and from other names. */
    private static final int NAME = 15;

    private static final int MOST_NAMES = 12;
    /** Powers of ten on each axis at least. */
    private static final int LEAST_POWERS = 3;

    /** Pixels of a line that has room for its name. */
    private static final double LEAST_LINE = 150;

    private static final String INK = "#222222";
    private static final String GRID = "#e3e3e3";
    /** Where no feed can be. */
    private static final String ABOVE = "#f4f2ee";

    private static final String FILES = "#8c564b";
    private static final String FEED = "#1f77b4";
    private static final String FIRST = "#9ecae1";
    private static final String DEMAND = "#555555";
    private static final Map<Roof.Resource, String> COLORS = Map.of(
            Roof.Resource.STORAGE, "#d62728",
            Roof.Resource.PAGE_CACHE, "#ff9896",
            Roof.Resource.NETWORK, "#2ca02c",
            Roof.Resource.CPU, "#9467bd",
            Roof.Resource.MEMORY, "#ff7f0e");

    private final Roofline roofline;
    private final List<Shape> shapes;
    private final int leftPower;
    private final int rightPower;
    private final int bottomPower;
    private final int topPower;
    /** Where marks and names are. */
    private final List<double[]> taken = new ArrayList<>();

    private int legendLine;

    private RooflineChart(Roofline roofline, List<Shape> shapes) {
        this.roofline = roofline;
        this.shapes = shapes;
        List<Double> sizes = new ArrayList<>(roofline.files().keySet());
        List<Double> rates = new ArrayList<>(roofline.files().values());
        roofline.points().forEach(point -> {
            sizes.add(point.sampleBytes());
            rates.add(point.samplesPerSecond());
        });
        shapes.forEach(shape -> {
            sizes.add(shape.sampleBytes());
            rates.add(shape.samplesPerSecond());
        });
        leftPower = Math.max(0, power(sizes, false));
        rightPower = Math.max(leftPower + LEAST_POWERS, power(sizes, true));
        bottomPower = Math.max(-3, power(rates.stream().map(rate -> rate * 0.8).toList(), false));
        // One more, because the roofs are above the feeds.
        topPower = Math.max(bottomPower + LEAST_POWERS, power(rates, true) + 1);
    }

    private static int power(List<Double> values, boolean isUpper) {
        double extreme = isUpper
                ? values.stream().mapToDouble(Double::doubleValue).max().orElse(1e6)
                : values.stream().mapToDouble(Double::doubleValue).min().orElse(1e3);
        double power = Math.log10(Math.max(1e-3, extreme));
        return (int) (isUpper ? Math.ceil(power) : Math.floor(power));
    }

    /** Returns an SVG document. */
    public static String svg(Roofline roofline, List<Shape> shapes) {
        SvgCanvas canvas =
                new SvgCanvas(WIDTH, height(roofline, shapes), "Roofline: samples per second over bytes of a sample");
        new RooflineChart(roofline, shapes).draw(canvas);
        return canvas.document();
    }

    /**
     * Returns the same picture as a PNG file.
     *
     * @throws IOException if this Java installation has no fonts
     */
    public static byte[] png(Roofline roofline, List<Shape> shapes) throws IOException {
        try {
            PngCanvas canvas = new PngCanvas(WIDTH, height(roofline, shapes));
            new RooflineChart(roofline, shapes).draw(canvas);
            return canvas.png();
        } catch (LinkageError | InternalError e) {
            throw new IOException("this Java installation cannot draw text, because it has no fonts", e);
        }
    }

    /** The picture has room for each line of the legend. */
    private static int height(Roofline roofline, List<Shape> shapes) {
        int lines = 2 + roofline.roofs().size();
        // A title, and an empty line before it.
        lines += roofline.points().isEmpty() ? 0 : 2 + roofline.points().size();
        lines += shapes.isEmpty() ? 0 : 2 + shapes.size();
        return Math.max(HEIGHT, TOP + lines * LINE);
    }

    private void draw(Canvas canvas) {
        // The storage limits first epochs only.
        List<Roof> always = roofline.roofs().stream()
                .filter(roof -> roof.resource() != Roof.Resource.STORAGE)
                .toList();
        Roof.lowest(always.isEmpty() ? roofline.roofs() : always).ifPresent(lowest -> shade(canvas, lowest));
        axes(canvas);
        legend(canvas, "Roofs");
        int number = 0;
        for (Roof roof : roofline.roofs()) {
            String color = COLORS.getOrDefault(roof.resource(), INK);
            Canvas.Stroke stroke =
                    roof.resource() == Roof.Resource.PAGE_CACHE ? Canvas.Stroke.DASHED : Canvas.Stroke.THICK;
            roof(canvas, roof, color, stroke);
            label(canvas, roof, color, number++);
            entry(canvas, color, stroke, label(roof) + ": " + rate(roof.bytesPerSecond()));
        }
        files(canvas);
        // Names must not cover marks.
        roofline.points()
                .forEach(point -> taken.add(new double[] {x(point.sampleBytes()), y(point.samplesPerSecond())}));
        shapes.forEach(shape -> taken.add(new double[] {x(shape.sampleBytes()), y(shape.samplesPerSecond())}));
        points(canvas);
        demands(canvas);
    }

    /** Several storages differ by their places. */
    private static String label(Roof roof) {
        return roof.resource() == Roof.Resource.STORAGE
                ? roof.name().substring(0, roof.name().indexOf(", "))
                : roof.resource().toString();
    }

    private void axes(Canvas canvas) {
        for (int power = leftPower; power <= rightPower; power++) {
            double x = x(Math.pow(10, power));
            canvas.line(x, TOP, x, BOTTOM, GRID, Canvas.Stroke.THIN);
            canvas.text(x, BOTTOM + 18, Amounts.axisBytes(power), 12, Canvas.Anchor.MIDDLE, INK);
        }
        for (int power = bottomPower; power <= topPower; power++) {
            double y = y(Math.pow(10, power));
            canvas.line(LEFT, y, RIGHT, y, GRID, Canvas.Stroke.THIN);
            canvas.text(LEFT - 8, y + 4, axisCount(power), 12, Canvas.Anchor.END, INK);
        }
        canvas.line(LEFT, BOTTOM, RIGHT, BOTTOM, INK, Canvas.Stroke.THIN);
        canvas.line(LEFT, TOP, LEFT, BOTTOM, INK, Canvas.Stroke.THIN);
        canvas.text((LEFT + RIGHT) / 2.0, BOTTOM + 42, "bytes of a sample", 13, Canvas.Anchor.MIDDLE, INK);
        canvas.text(LEFT - 8, TOP - 12, "samples per second", 13, Canvas.Anchor.START, INK);
    }

    /** A label that fits beside the axis: 100,000 or 100 M. */
    private static String axisCount(int power) {
        if (power >= 6) {
            return (long) Math.pow(10, power % 3) + " " + "MGTPEZY".charAt(power / 3 - 2);
        }
        return power < 0
                ? String.valueOf(Math.pow(10, power))
                : Amounts.count(Math.pow(10, power)).replace(".00", "").replace(".0", "");
    }

    /** The least bytes of a sample at which a roof is in the picture. */
    private double from(Roof roof) {
        return Math.max(Math.pow(10, leftPower), roof.bytesPerSecond() / Math.pow(10, topPower));
    }

    /** The most bytes of a sample at which a roof is in the picture; below {@link #from} if it is not. */
    private double to(Roof roof) {
        return Math.min(Math.pow(10, rightPower), roof.bytesPerSecond() / Math.pow(10, bottomPower));
    }

    /** Draws the part of a falling line that is in the picture. */
    private void roof(Canvas canvas, Roof roof, String color, Canvas.Stroke stroke) {
        double from = from(roof);
        double to = to(roof);
        if (from < to) {
            canvas.line(x(from), y(roof.samplesPerSecond(from)), x(to), y(roof.samplesPerSecond(to)), color, stroke);
        }
    }

    /** Shades the part of the picture above a roof. */
    private void shade(Canvas canvas, Roof roof) {
        double from = from(roof);
        double to = to(roof);
        if (from >= to) {
            return;
        }
        DoubleStream.Builder corners = DoubleStream.builder();
        corners.add(x(from)).add(y(roof.samplesPerSecond(from)));
        corners.add(x(to)).add(y(roof.samplesPerSecond(to)));
        if (to < Math.pow(10, rightPower)) {
            corners.add(RIGHT).add(BOTTOM);
        }
        corners.add(RIGHT).add(TOP);
        if (from <= Math.pow(10, leftPower)) {
            corners.add(LEFT).add(TOP);
        }
        canvas.area(corners.build().toArray(), ABOVE);
    }

    /** Writes the name of a roof on its line. Lines can be close, so the names begin at different places. */
    private void label(Canvas canvas, Roof roof, String color, int number) {
        double from = from(roof);
        double to = to(roof);
        if (from >= to) {
            return;
        }
        double dx = x(to) - x(from);
        double dy = y(roof.samplesPerSecond(to)) - y(roof.samplesPerSecond(from));
        double length = Math.hypot(dx, dy);
        if (length < LEAST_LINE) {
            return;
        }
        double part = 0.08 + 0.2 * (number % 4);
        // Above the line.
        double x = x(from) + part * dx + 5 * dy / length;
        double y = y(roof.samplesPerSecond(from)) + part * dy - 5 * dx / length;
        canvas.turned(x, y, Math.toDegrees(Math.atan2(dy, dx)), cut(label(roof), ""), 11, color);
    }

    private void files(Canvas canvas) {
        if (roofline.files().size() < 2) {
            return;
        }
        double lastX = 0;
        double lastY = 0;
        for (Map.Entry<Double, Double> file : roofline.files().entrySet()) {
            double x = x(file.getKey());
            double y = y(file.getValue());
            if (lastX > 0) {
                canvas.line(lastX, lastY, x, y, FILES, Canvas.Stroke.DASHED);
            }
            lastX = x;
            lastY = y;
        }
        entry(canvas, FILES, Canvas.Stroke.DASHED, "storage, one random read for each sample");
    }

    private void points(Canvas canvas) {
        if (roofline.points().isEmpty()) {
            return;
        }
        legendLine++;
        legend(canvas, "Feeds");
        int number = 0;
        for (FeedPoint point : roofline.points()) {
            number++;
            String fill = point.isFirstEpoch() ? FIRST : FEED;
            double y = y(point.samplesPerSecond());
            canvas.circle(x(point.sampleBytes()), y, 5, INK, fill);
            name(canvas, x(point.sampleBytes()), y, Integer.toString(number));
            double line = TOP + legendLine++ * LINE;
            canvas.circle(LEGEND + 10, line - 4, 5, INK, fill);
            canvas.text(
                    LEGEND + 28,
                    line,
                    cut(number + "  " + point.name(), ": " + Amounts.count(point.samplesPerSecond()) + "/s"),
                    12,
                    Canvas.Anchor.START,
                    INK);
        }
    }

    private void demands(Canvas canvas) {
        if (shapes.isEmpty()) {
            return;
        }
        legendLine++;
        legend(canvas, "Demand of one accelerator");
        int letter = 0;
        for (Shape shape : shapes) {
            String name = String.valueOf((char) ('a' + letter++ % 26));
            double y = y(shape.samplesPerSecond());
            canvas.diamond(x(shape.sampleBytes()), y, 6, DEMAND, "#ffffff");
            name(canvas, x(shape.sampleBytes()), y, name);
            double line = TOP + legendLine++ * LINE;
            canvas.diamond(LEGEND + 10, line - 4, 6, DEMAND, "#ffffff");
            canvas.text(
                    LEGEND + 28,
                    line,
                    cut(name + "  " + shape.name() + ", " + shape.accelerator(), ": " + rate(shape.bytesPerSecond())),
                    12,
                    Canvas.Anchor.START,
                    INK);
        }
    }

    private void legend(Canvas canvas, String title) {
        canvas.text(LEGEND, TOP + legendLine++ * LINE, title, 13, Canvas.Anchor.START, INK);
    }

    private void entry(Canvas canvas, String color, Canvas.Stroke stroke, String text) {
        double line = TOP + legendLine++ * LINE;
        canvas.line(LEGEND, line - 4, LEGEND + 22, line - 4, color, stroke);
        canvas.text(LEGEND + 28, line, cut(text, ""), 12, Canvas.Anchor.START, INK);
    }

    /** Shortens a name, and keeps the figure behind it. */
    private static String cut(String name, String figure) {
        int room = LONGEST - figure.length();
        return (name.length() <= room ? name : name.substring(0, room - 1) + "…") + figure;
    }

    /** Writes the name of a mark to its right or left. Marks of one dataset are close, so names avoid each other. */
    private void name(Canvas canvas, double x, double y, String text) {
        double at = x + NAME;
        for (int i = 0; isTaken(at, y) && i < MOST_NAMES; i++) {
            at = x + NAME * (1 + (i + 1) / 2) * (i % 2 == 0 ? -1 : 1);
        }
        taken.add(new double[] {at, y});
        canvas.text(at, y + 4, text, 12, Canvas.Anchor.MIDDLE, INK);
    }

    private boolean isTaken(double x, double y) {
        return taken.stream().anyMatch(other -> Math.abs(other[0] - x) < NAME - 1 && Math.abs(other[1] - y) < NAME - 1);
    }

    private static String rate(double bytesPerSecond) {
        return Units.rate(bytesPerSecond);
    }

    private double x(double bytes) {
        return LEFT + (Math.log10(bytes) - leftPower) / (rightPower - leftPower) * (RIGHT - LEFT);
    }

    private double y(double samples) {
        double clipped = Math.max(Math.pow(10, bottomPower), samples);
        return BOTTOM - (Math.log10(clipped) - bottomPower) / (topPower - bottomPower) * (BOTTOM - TOP);
    }
}
