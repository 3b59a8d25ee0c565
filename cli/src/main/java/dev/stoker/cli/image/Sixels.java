package dev.stoker.cli.image;

import java.awt.image.BufferedImage;

/** Encodes images as sixel graphics with 216 colours: six levels of red, green and blue. Stateless. */
final class Sixels {

    private static final int LEVELS = 6;
    private static final int COLOURS = LEVELS * LEVELS * LEVELS;
    /** Lines that one character has. */
    private static final int BAND = 6;

    private Sixels() {}

    static String of(BufferedImage image) {
        StringBuilder text = new StringBuilder("\033P0;1q\"1;1;" + image.getWidth() + ";" + image.getHeight());
        for (int c = 0; c < COLOURS; c++) {
            text.append('#').append(c).append(";2;");
            text.append(percent(c / (LEVELS * LEVELS))).append(';');
            text.append(percent(c / LEVELS % LEVELS)).append(';');
            text.append(percent(c % LEVELS));
        }
        for (int y = 0; y < image.getHeight(); y += BAND) {
            band(image, y, text);
        }
        return text.append("\033\\").toString();
    }

    private static int percent(int level) {
        return level * 100 / (LEVELS - 1);
    }

    private static void band(BufferedImage image, int top, StringBuilder text) {
        int lines = Math.min(BAND, image.getHeight() - top);
        int width = image.getWidth();
        byte[][] masks = new byte[COLOURS][];
        for (int y = 0; y < lines; y++) {
            for (int x = 0; x < width; x++) {
                int c = colour(image.getRGB(x, top + y));
                if (masks[c] == null) {
                    masks[c] = new byte[width];
                }
                masks[c][x] |= (byte) (1 << y);
            }
        }
        for (int c = 0; c < COLOURS; c++) {
            if (masks[c] != null) {
                text.append('#').append(c);
                line(masks[c], text);
                text.append('$');
            }
        }
        text.append('-');
    }

    /** Appends the pixels of one colour, with a count before characters that are repeated. */
    private static void line(byte[] mask, StringBuilder text) {
        for (int x = 0; x < mask.length; ) {
            int end = x + 1;
            while (end < mask.length && mask[end] == mask[x]) {
                end++;
            }
            char pixels = (char) ('?' + mask[x]);
            if (end - x > 3) {
                text.append('!').append(end - x).append(pixels);
            } else {
                text.append(String.valueOf(pixels).repeat(end - x));
            }
            x = end;
        }
    }

    private static int colour(int rgb) {
        int red = level(rgb >> 16 & 0xFF);
        int green = level(rgb >> 8 & 0xFF);
        return (red * LEVELS + green) * LEVELS + level(rgb & 0xFF);
    }

    private static int level(int value) {
        return (value * (LEVELS - 1) + 127) / 255;
    }
}
