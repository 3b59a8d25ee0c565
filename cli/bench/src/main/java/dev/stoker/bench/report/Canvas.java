package dev.stoker.bench.report;

/** Draws in pixels from the upper left corner. Colors are hexadecimal, as {@code #1f77b4}. */
interface Canvas {

    /** Where a text is, relative to its point. */
    enum Anchor {
        START,
        MIDDLE,
        END
    }

    /** The shape of a line. */
    enum Stroke {
        THIN,
        THICK,
        DASHED
    }

    void line(double x1, double y1, double x2, double y2, String color, Stroke stroke);

    /** @param fill empty for a circle without filling */
    void circle(double x, double y, double radius, String color, String fill);

    /** A diamond. */
    void diamond(double x, double y, double radius, String color, String fill);

    /**
     * A filled area without a border.
     *
     * @param corners x and y of each corner, one after the other
     */
    void area(double[] corners, String fill);

    /**
     * A text that begins at a point, and is turned around it.
     *
     * @param degrees clockwise
     */
    void turned(double x, double y, double degrees, String text, int size, String color);

    /** @param size of the font */
    void text(double x, double y, String text, int size, Anchor anchor, String color);
}
