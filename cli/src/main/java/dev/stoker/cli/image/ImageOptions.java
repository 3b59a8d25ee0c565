package dev.stoker.cli.image;

import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.KeyText;
import dev.stoker.cli.output.SafeOutput;
import dev.stoker.cli.output.Terminal;
import dev.stoker.cli.samples.ContentBytes;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.cli.samples.ReadSample;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.StoredSample;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of {@code stoker show} that draw or write images. */
public final class ImageOptions {

    /** Width of an image if the terminal is wider. */
    private static final int USUAL_COLUMNS = 80;

    private static final int MAX_COLUMNS = 1000;

    @Option(names = "--image", description = "Draw the images of the samples (JPEG, PNG, GIF, BMP) in the terminal.")
    private boolean image;

    @Option(
            names = "--width",
            paramLabel = "COLUMNS",
            description = "Width of an image in columns. Default: the terminal's width, at most 80.")
    private @Nullable Integer width;

    @Option(
            names = "--graphics",
            paramLabel = "KIND",
            description = "kitty, iterm, sixel or blocks (characters in 24-bit colours). Default: what the variables"
                    + " TERM and TERM_PROGRAM of the terminal say, or else blocks.")
    private @Nullable String graphics;

    @Option(
            names = "--field",
            paramLabel = "NAME",
            description = "Field with the image. Default: the only payload field.")
    private @Nullable String field;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "Write the image of the one sample to FILE as it is, instead of drawing it.")
    private @Nullable Path output;

    public boolean isWanted() {
        if (!image && (width != null || graphics != null || field != null || output != null)) {
            throw new IllegalArgumentException("--width, --graphics, --field and --output need --image");
        }
        return image;
    }

    /** Draws or writes the images of samples. */
    public void show(OpenDataset open, List<String> keys, PrintWriter out) throws IOException {
        if (output != null && keys.size() != 1) {
            throw new IllegalArgumentException("--output needs one KEY");
        }
        int columns = columns();
        Graphics kind = kind();
        int content = ContentBytes.choose(open.dataset().info().fields(), field);
        SampleIndex index = SampleIndex.open(open.dataset(), open.snapshot());
        for (String key : keys) {
            Optional<StoredSample> sample = index.get(key);
            if (sample.isEmpty()) {
                throw new CommandException(
                        "version " + index.version() + " has no sample with the key " + KeyText.line(key));
            }
            ByteBuffer bytes = ContentBytes.of(ReadSample.of(sample.get()), content);
            if (output == null) {
                Picture picture = Picture.decode(bytes, "the sample " + KeyText.line(key));
                out.println(KeyText.line(key) + "  " + picture.width() + " x " + picture.height());
                out.flush();
                kind.draw(picture.scaled(kind.pixels(columns)), columns, SafeOutput.raw(out));
            } else {
                try (OutputStream file = Files.newOutputStream(output)) {
                    ContentBytes.write(bytes, file);
                }
            }
        }
        out.flush();
    }

    private int columns() {
        if (width == null) {
            return Math.min(USUAL_COLUMNS, Terminal.isOutput() ? Terminal.columns() : USUAL_COLUMNS);
        }
        if (width < 1 || width > MAX_COLUMNS) {
            throw new IllegalArgumentException("option --width: " + width + " is not between 1 and " + MAX_COLUMNS);
        }
        return width;
    }

    private Graphics kind() {
        if (graphics == null) {
            return Terminal.isOutput() ? Graphics.of(System.getenv()) : Graphics.BLOCKS;
        }
        for (Graphics kind : Graphics.values()) {
            if (kind.name().toLowerCase(Locale.ROOT).equals(graphics)) {
                return kind;
            }
        }
        throw new IllegalArgumentException(
                "option --graphics: '" + graphics + "' is not kitty, iterm, sixel or blocks");
    }
}
