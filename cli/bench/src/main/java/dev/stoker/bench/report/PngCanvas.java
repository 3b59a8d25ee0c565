package dev.stoker.bench.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.Shape;
import java.awt.geom.AffineTransform;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Line2D;
import java.awt.geom.Path2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import javax.imageio.ImageIO;

/** Draws into an image, at twice the size. Needs fonts, which some small Java installations lack. */
final class PngCanvas implements Canvas {
    private static final int SCALE = 2;

    private final BufferedImage image;
    private final Graphics2D graphics;

    PngCanvas(int width, int height) {
        image = new BufferedImage(width * SCALE, height * SCALE, BufferedImage.TYPE_INT_RGB);
        graphics = image.createGraphics();
        graphics.scale(SCALE, SCALE);
        graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        graphics.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
        graphics.setColor(Color.WHITE);
        graphics.fillRect(0, 0, width, height);
    }

    @Override
    public void line(double x1, double y1, double x2, double y2, String color, Stroke stroke) {
        graphics.setColor(Color.decode(color));
        graphics.setStroke(
                switch (stroke) {
                    case THIN -> new BasicStroke(1);
                    case THICK -> new BasicStroke(2);
                    case DASHED ->
                        new BasicStroke(2, BasicStroke.CAP_BUTT, BasicStroke.JOIN_MITER, 10, new float[] {6, 4}, 0);
                });
        graphics.draw(new Line2D.Double(x1, y1, x2, y2));
    }

    @Override
    public void circle(double x, double y, double radius, String color, String fill) {
        draw(new Ellipse2D.Double(x - radius, y - radius, 2 * radius, 2 * radius), color, fill);
    }

    @Override
    public void diamond(double x, double y, double radius, String color, String fill) {
        Path2D path = new Path2D.Double();
        path.moveTo(x, y - radius);
        path.lineTo(x + radius, y);
        path.lineTo(x, y + radius);
        path.lineTo(x - radius, y);
        path.closePath();
        draw(path, color, fill);
    }

    private void draw(Shape shape, String color, String fill) {
        if (!fill.isEmpty()) {
            graphics.setColor(Color.decode(fill));
            graphics.fill(shape);
        }
        graphics.setColor(Color.decode(color));
        graphics.setStroke(new BasicStroke(1.5f));
        graphics.draw(shape);
    }

    @Override
    public void text(double x, double y, String text, int size, Anchor anchor, String color) {
        graphics.setFont(new Font(Font.SANS_SERIF, Font.PLAIN, size));
        graphics.setColor(Color.decode(color));
        int width = graphics.getFontMetrics().stringWidth(text);
        double left = switch (anchor) {
            case START -> x;
            case MIDDLE -> x - width / 2.0;
            case END -> x - width;
        };
        graphics.drawString(text, (float) left, (float) y);
    }

    @Override
    public void area(double[] corners, String fill) {
        Path2D path = new Path2D.Double();
        path.moveTo(corners[0], corners[1]);
        for (int i = 2; i < corners.length; i += 2) {
            path.lineTo(corners[i], corners[i + 1]);
        }
        path.closePath();
        graphics.setColor(Color.decode(fill));
        graphics.fill(path);
    }

    @Override
    public void turned(double x, double y, double degrees, String text, int size, String color) {
        AffineTransform before = graphics.getTransform();
        graphics.rotate(Math.toRadians(degrees), x, y);
        text(x, y, text, size, Anchor.START, color);
        graphics.setTransform(before);
    }

    byte[] png() throws IOException {
        graphics.dispose();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ImageIO.write(image, "png", out);
        return out.toByteArray();
    }
}
