package dev.stoker.cli.image;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import javax.imageio.ImageIO;

/** The ways in which terminals draw images. */
public enum Graphics {
    /** The graphics protocol of kitty, also of Ghostty. */
    KITTY(10) {
        @Override
        void draw(BufferedImage image, int columns, PrintWriter out) {
            String data = Base64.getEncoder().encodeToString(png(image));
            for (int from = 0; from < data.length(); from += PART) {
                int to = Math.min(data.length(), from + PART);
                // Format 100 is PNG, and q=2 suppresses the terminal's answers.
                String first = from == 0 ? "a=T,f=100,q=2,c=" + columns + "," : "";
                out.print("\033_G" + first + "m=" + (to < data.length() ? 1 : 0) + ";" + data.substring(from, to)
                        + "\033\\");
            }
            out.println();
        }
    },
    /** Inline images of iTerm2, also of WezTerm. */
    ITERM(10) {
        @Override
        void draw(BufferedImage image, int columns, PrintWriter out) {
            byte[] png = png(image);
            out.println("\033]1337;File=inline=1;size=" + png.length + ";width=" + columns + ";preserveAspectRatio=1:"
                    + Base64.getEncoder().encodeToString(png) + "\007");
        }
    },
    /** Sixel graphics of DEC's terminals. */
    SIXEL(8) {
        @Override
        void draw(BufferedImage image, int columns, PrintWriter out) {
            out.println(Sixels.of(image));
        }
    },
    /** Two pixels in each character, for all terminals with 24-bit colours. */
    BLOCKS(1) {
        @Override
        void draw(BufferedImage image, int columns, PrintWriter out) {
            for (int y = 0; y < image.getHeight(); y += 2) {
                StringBuilder line = new StringBuilder();
                for (int x = 0; x < image.getWidth(); x++) {
                    line.append("\033[38;2;").append(colour(image.getRGB(x, y))).append('m');
                    if (y + 1 < image.getHeight()) {
                        line.append("\033[48;2;")
                                .append(colour(image.getRGB(x, y + 1)))
                                .append('m');
                    }
                    line.append('▀');
                }
                out.println(line.append("\033[0m"));
            }
        }
    };

    /** Characters of Base64 in one sequence of kitty's protocol. */
    private static final int PART = 4096;

    private final int pixelsPerColumn;

    Graphics(int pixelsPerColumn) {
        this.pixelsPerColumn = pixelsPerColumn;
    }

    /** Returns the width in pixels of an image that takes some columns of the terminal. */
    int pixels(int columns) {
        return pixelsPerColumn * columns;
    }

    /** Draws an image that was scaled to {@link #pixels}. */
    abstract void draw(BufferedImage image, int columns, PrintWriter out);

    /**
     * Returns the graphics that a terminal says that it has.
     *
     * @param environment the variables by which terminals introduce themselves
     */
    public static Graphics of(Map<String, String> environment) {
        String term = environment.getOrDefault("TERM", "").toLowerCase(Locale.ROOT);
        String program = environment.getOrDefault("TERM_PROGRAM", "").toLowerCase(Locale.ROOT);
        if (environment.containsKey("TMUX") || term.startsWith("screen") || term.startsWith("tmux")) {
            // They pass on graphics only if they are configured to.
            return BLOCKS;
        }
        if (environment.containsKey("KITTY_WINDOW_ID") || term.contains("kitty") || program.equals("ghostty")) {
            return KITTY;
        }
        if (program.equals("iterm.app")
                || program.equals("wezterm")
                || environment.getOrDefault("LC_TERMINAL", "").equals("iTerm2")) {
            return ITERM;
        }
        return term.contains("sixel") || term.startsWith("foot") || term.startsWith("mlterm") ? SIXEL : BLOCKS;
    }

    private static String colour(int rgb) {
        return (rgb >> 16 & 0xFF) + ";" + (rgb >> 8 & 0xFF) + ";" + (rgb & 0xFF);
    }

    private static byte[] png(BufferedImage image) {
        ByteArrayOutputStream png = new ByteArrayOutputStream();
        try {
            ImageIO.write(image, "png", png);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return png.toByteArray();
    }
}
