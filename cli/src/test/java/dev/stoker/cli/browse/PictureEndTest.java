package dev.stoker.cli.browse;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.ImageOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PictureEndTest {

    private static byte[] encoded(String format, boolean isProgressive) throws IOException {
        BufferedImage image = new BufferedImage(60, 40, BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = image.createGraphics();
        Random random = new Random(1);
        for (int i = 0; i < 200; i++) {
            graphics.setColor(new Color(random.nextInt(1 << 24)));
            graphics.fillRect(random.nextInt(60), random.nextInt(40), 9, 9);
        }
        graphics.dispose();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ImageWriter writer = ImageIO.getImageWritersByFormatName(format).next();
        ImageWriteParam parameters = writer.getDefaultWriteParam();
        if (isProgressive) {
            parameters.setProgressiveMode(ImageWriteParam.MODE_DEFAULT);
        }
        try (ImageOutputStream stream = ImageIO.createImageOutputStream(out)) {
            writer.setOutput(stream);
            writer.write(null, new IIOImage(image, null, null), parameters);
        }
        writer.dispose();
        return out.toByteArray();
    }

    private static boolean isMissing(byte[] picture) {
        ByteBuffer content = ByteBuffer.wrap(picture);
        return PictureEnd.isMissing(MediaType.of(content).orElseThrow(), content);
    }

    @ParameterizedTest
    @CsvSource({"jpg,false", "jpg,true", "png,false", "bmp,false"})
    void aPictureThatIsCutAnywhereHasNoEnd(String format, boolean isProgressive) throws IOException {
        byte[] whole = encoded(format, isProgressive);
        assertThat(isMissing(whole)).isFalse();
        assertThat(isMissing(Arrays.copyOf(whole, whole.length + 1000)))
                .as("with data behind its end")
                .isFalse();
        // Less is not recognised as a picture.
        for (int length = 30; length < whole.length; length++) {
            assertThat(isMissing(Arrays.copyOf(whole, length)))
                    .as("%s of %s bytes", length, whole.length)
                    .isTrue();
        }
    }

    @Test
    void theLengthOfWebPIsInItsHeader() {
        byte[] whole = "RIFF\u0010\0\0\0WEBPVP8 \u0004\0\0\0abcd".getBytes(StandardCharsets.ISO_8859_1);
        assertThat(isMissing(whole)).isFalse();
        assertThat(isMissing(Arrays.copyOf(whole, whole.length - 1))).isTrue();
    }

    @Test
    void theEndOfASmallPictureInsideIsNotTheEnd() throws IOException {
        byte[] small = encoded("jpg", false);
        byte[] large = encoded("jpg", false);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        // An application segment with a thumbnail, as cameras write.
        out.write(large, 0, 2);
        out.write(new byte[] {(byte) 0xFF, (byte) 0xE1, (byte) ((small.length + 2) >> 8), (byte) (small.length + 2)});
        out.write(small);
        out.write(large, 2, large.length - 2);
        byte[] whole = out.toByteArray();
        assertThat(isMissing(whole)).isFalse();
        assertThat(isMissing(Arrays.copyOf(whole, whole.length - 2))).isTrue();
    }
}
