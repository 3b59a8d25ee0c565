package dev.stoker.cli.image;

import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.KeyText;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Iterator;
import javax.imageio.ImageIO;
import javax.imageio.ImageReadParam;
import javax.imageio.ImageReader;
import javax.imageio.stream.ImageInputStream;
import javax.imageio.stream.MemoryCacheImageInputStream;

/**
 * An image of a sample, decoded for the screen: the first frame of a GIF, without transparency. Large images are
 * decoded with fewer pixels, so that a small file cannot need much memory.
 *
 * @param width of the original, in pixels
 * @param height of the original
 * @param pixels the decoded image
 */
record Picture(int width, int height, BufferedImage pixels) {

    /** Larger images are not decoded. */
    private static final long MAX_PIXELS = 1L << 28;

    /** Longest side of a decoded image. */
    private static final int SIDE = 2048;

    /** Greatest height of a drawn image, in widths. */
    private static final int TALLEST = 4;

    /** @param what names the sample in messages */
    static Picture decode(ByteBuffer bytes, String what) throws CommandException {
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        try (ImageInputStream in = new MemoryCacheImageInputStream(new ByteArrayInputStream(copy))) {
            Iterator<ImageReader> readers = ImageIO.getImageReaders(in);
            if (!readers.hasNext()) {
                throw new CommandException(what + " is not a JPEG, PNG, GIF or BMP image; stoker cat prints it");
            }
            ImageReader reader = readers.next();
            try {
                reader.setInput(in, true, true);
                return decode(reader, what);
            } finally {
                reader.dispose();
            }
        } catch (CommandException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            throw new CommandException(what + " cannot be decoded: " + KeyText.line(String.valueOf(e.getMessage())));
        }
    }

    private static Picture decode(ImageReader reader, String what) throws IOException {
        int width = reader.getWidth(0);
        int height = reader.getHeight(0);
        if ((long) width * height > MAX_PIXELS) {
            throw new CommandException(what + " is too large to be drawn: " + width + " x " + height + " pixels");
        }
        ImageReadParam param = reader.getDefaultReadParam();
        int step = Math.max(1, Math.max(width, height) / SIDE);
        param.setSourceSubsampling(step, step, 0, 0);
        BufferedImage read = reader.read(0, param);
        BufferedImage opaque = new BufferedImage(read.getWidth(), read.getHeight(), BufferedImage.TYPE_INT_RGB);
        Graphics2D canvas = opaque.createGraphics();
        canvas.drawImage(read, 0, 0, null);
        canvas.dispose();
        return new Picture(width, height, opaque);
    }

    /** Returns the image with a width in pixels, or less if it is very tall. */
    BufferedImage scaled(int wanted) {
        double shape = (double) pixels.getHeight() / pixels.getWidth();
        int columns = (int) Math.max(1, shape > TALLEST ? wanted * TALLEST / shape : wanted);
        int rows = (int) Math.max(1, Math.round(columns * shape));
        BufferedImage image = pixels;
        // Bilinear interpolation reads four pixels, so one step at most halves an image.
        while (image.getWidth() > 2 * columns && image.getHeight() > 2 * rows) {
            image = drawn(image, image.getWidth() / 2, image.getHeight() / 2);
        }
        return drawn(image, columns, rows);
    }

    private static BufferedImage drawn(BufferedImage image, int width, int height) {
        BufferedImage drawn = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        Graphics2D canvas = drawn.createGraphics();
        canvas.setRenderingHint(RenderingHints.KEY_INTERPOLATION, RenderingHints.VALUE_INTERPOLATION_BILINEAR);
        canvas.drawImage(image, 0, 0, width, height, null);
        canvas.dispose();
        return drawn;
    }
}
