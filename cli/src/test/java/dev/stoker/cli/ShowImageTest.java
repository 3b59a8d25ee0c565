package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.image.Graphics;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShowImageTest {

    private static final int RED = 0xFF0000;
    private static final int BLUE = 0x0000FF;

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    /** An image whose upper half is red and whose lower half is blue. */
    private static byte[] image(String format, int width, int height) throws IOException {
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                image.setRGB(x, y, y < height / 2 ? RED : BLUE);
            }
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        assertThat(ImageIO.write(image, format, bytes)).isTrue();
        return bytes.toByteArray();
    }

    private final Map<String, byte[]> images = new LinkedHashMap<>();

    @BeforeEach
    void create() throws IOException {
        for (String format : List.of("png", "bmp", "gif", "jpg")) {
            images.put(format, image(format, 40, 40));
        }
        images.put("broken", Arrays.copyOf(images.get("png"), 60));
        images.put("text", "no image".getBytes(StandardCharsets.UTF_8));
        images.put("bomb", bomb());
        try (ObjectStore store = new LocalObjectStore(directory.resolve("d"))) {
            Dataset dataset = Dataset.create(store, SampleDatasets.info());
            ChunkSummary chunk = SampleDatasets.write(store, SampleDatasets.id(0), "ingest-0", "train", images);
            SampleDatasets.committer(dataset)
                    .commit(VersionRequest.append("ingest-0", List.of(chunk), Map.of("label", List.of("")), Map.of()));
        }
    }

    /** A small PNG file that says that it has 60,000 x 60,000 pixels. */
    private static byte[] bomb() throws IOException {
        byte[] bomb = image("png", 1, 1);
        ByteBuffer.wrap(bomb).putInt(16, 60_000).putInt(20, 60_000);
        return bomb;
    }

    private int show(String... args) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        List<String> all =
                new ArrayList<>(List.of("show", directory.resolve("d").toString()));
        all.addAll(List.of(args));
        return Stoker.run(all, new PrintWriter(out, true), new PrintWriter(err, true));
    }

    @ParameterizedTest
    @CsvSource({"png", "bmp", "gif"})
    void drawsTwoPixelsInEachCharacter(String key) {
        assertThat(show(key, "--image", "--width", "2")).isZero();

        String cell = "\033[38;2;255;0;0m\033[48;2;0;0;255m▀";
        assertThat(out.toString()).isEqualToNormalizingNewlines(key + "  40 x 40\n" + cell + cell + "\033[0m\n");
    }

    @Test
    void drawsTheFirstSamples() {
        assertThat(show("--image", "--n", "4", "--width", "3")).isZero();

        assertThat(out.toString().lines().filter(line -> line.endsWith("40 x 40")))
                .hasSize(4);
    }

    @Test
    void sendsAPngToKittyInParts() throws IOException {
        assertThat(show("jpg", "--image", "--graphics", "kitty", "--width", "30"))
                .isZero();

        StringBuilder data = new StringBuilder();
        Matcher part =
                Pattern.compile("\033_G([^;]*);([A-Za-z0-9+/=]*)\033\\\\").matcher(out.toString());
        while (part.find()) {
            data.append(part.group(2));
            assertThat(part.group(1)).endsWith(part.hitEnd() ? "m=0" : part.group(1));
        }
        BufferedImage sent =
                ImageIO.read(new ByteArrayInputStream(Base64.getDecoder().decode(data.toString())));
        assertThat(sent.getWidth()).isEqualTo(300);
        assertThat(sent.getRGB(10, 10) >> 16 & 0xFF).isGreaterThan(240);
    }

    @Test
    void sendsAnInlineImageToIterm() throws IOException {
        assertThat(show("png", "--image", "--graphics", "iterm", "--width", "4"))
                .isZero();

        Matcher image = Pattern.compile("\033]1337;File=inline=1;size=(\\d+);width=4;preserveAspectRatio=1:(.*)\007")
                .matcher(out.toString());
        assertThat(image.find()).isTrue();
        byte[] png = Base64.getDecoder().decode(image.group(2));
        assertThat(png).hasSize(Integer.parseInt(image.group(1)));
        assertThat(ImageIO.read(new ByteArrayInputStream(png)).getRGB(1, 30)).isEqualTo(0xFF000000 | BLUE);
    }

    @Test
    void sendsSixelsInBandsOfSixLines() {
        assertThat(show("png", "--image", "--graphics", "sixel", "--width", "3"))
                .isZero();

        // 24 x 24 pixels: two bands of red (colour 180) and two of blue (5), with all six lines set (~).
        assertThat(out.toString())
                .contains("\033P0;1q\"1;1;24;24#0;2;0;0;0#1;2;0;0;20")
                .contains("#180!24~$-#180!24~$-#5!24~$-#5!24~$-\033\\");
    }

    @ParameterizedTest
    @CsvSource({
        "TERM=xterm-kitty, KITTY",
        "TERM=xterm-256color KITTY_WINDOW_ID=1, KITTY",
        "TERM=xterm-256color TERM_PROGRAM=iTerm.app, ITERM",
        "TERM=xterm-256color LC_TERMINAL=iTerm2, ITERM",
        "TERM=xterm-256color TERM_PROGRAM=WezTerm, ITERM",
        "TERM=foot, SIXEL",
        "TERM=xterm-256color, BLOCKS",
        "TERM=screen-256color KITTY_WINDOW_ID=1, BLOCKS",
        "TERM=xterm-kitty TMUX=/tmp/tmux, BLOCKS"
    })
    void choosesTheGraphicsThatTheTerminalNames(String variables, Graphics expected) {
        Map<String, String> environment = new LinkedHashMap<>();
        for (String variable : variables.split(" ")) {
            environment.put(variable.split("=")[0], variable.split("=")[1]);
        }

        assertThat(Graphics.of(environment)).isEqualTo(expected);
    }

    @Test
    void writesTheImageAsItIs() throws IOException {
        Path file = directory.resolve("1.gif");

        assertThat(show("gif", "--image", "-o", file.toString())).isZero();

        assertThat(Files.readAllBytes(file)).isEqualTo(images.get("gif"));
        assertThat(out.toString()).isEmpty();
        assertThat(show("gif", "png", "--image", "-o", file.toString())).isEqualTo(2);
        assertThat(err.toString()).contains("--output needs one KEY");
    }

    @Test
    void saysWhatCannotBeDrawn() {
        assertThat(show("text", "--image")).isEqualTo(1);
        assertThat(err.toString()).contains("the sample text is not a JPEG, PNG, GIF or BMP image");
        assertThat(show("broken", "--image")).isEqualTo(1);
        assertThat(err.toString()).contains("the sample broken cannot be decoded");
        assertThat(show("bomb", "--image")).isEqualTo(1);
        assertThat(err.toString()).contains("the sample bomb is too large to be drawn: 60000 x 60000 pixels");
        assertThat(show("gone", "--image")).isEqualTo(1);
        assertThat(err.toString()).contains("no sample with the key gone");
        assertThat(show("png", "--width", "3")).isEqualTo(2);
        assertThat(err.toString()).contains("need --image");
    }

    @Test
    void showsSamplesByKey() {
        assertThat(show("text", "png")).isZero();

        assertThat(out.toString().lines().map(line -> line.split(" ")[0])).containsExactly("KEY", "text", "png");
    }
}
