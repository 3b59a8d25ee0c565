package dev.stoker.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.bench.demand.Shapes;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

class ReportPageTest {

    private static Report report(Measurements.Source... sources) throws Exception {
        return Report.of(Measurements.of(List.of(sources)), Shapes.all("h100"), OptionalDouble.empty(), 8, 1e9);
    }

    private static Report full() throws Exception {
        return report(Results.storage(1e9, 4e6, 6e9), Results.feed(1e5, 1.5e9, 2e9, 10e9), Results.demand(0.85));
    }

    private static Document xml(String text) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(text)));
    }

    @Test
    void thePageNamesLimitsAcceleratorsAndTheSizing() throws Exception {
        String page = ReportPage.html(full());
        assertThat(page)
                .contains("photos, first epoch, tcp", "The limit is storage, sequential reads of 1 MiB", "--tier")
                // 15,000 samples/s / (0.9 x 1,786): the feed moves 1.5 GB/s, a sample has 114,660 bytes.
                .contains("resnet50", "13,082 samples/s", "<td class=\"n\">8</td>")
                .contains("2 accelerators computed 85 % (missed)")
                .contains("8 × resnet50, h100", "cold &lt;note&gt;");
    }

    @Test
    void aGivenNetworkLimitsTheAcceleratorsByItsPayload() throws Exception {
        Measurements findings = Measurements.of(List.of(Results.feed(1e5, 1.5e9, 2e9, 10e9)));
        Report report = Report.of(findings, Shapes.all("h100"), OptionalDouble.of(1.25e9), 8, 1e9);
        // 1.25 GB/s less the frames, of 114,660 bytes each.
        Report.Supply resnet = report.supplies().get(0);
        assertThat(resnet.samplesPerSecond()).isCloseTo(1.25e9 / 1.05 / 114_660.07, within(0.01));
        assertThat(resnet.accelerators()).isEqualTo(6);
        assertThat(resnet.sizing().feeders()).isEqualTo(2);
        JsonNode json = report.json().at("/shapes/0/sizing");
        assertThat(json.path("memory_bytes").asLong()).isEqualTo(1L << 30);
        assertThat(json.path("processors").asDouble()).isPositive();
        assertThat(json.path("tier_bytes").asLong()).isEqualTo(500_000_000);
    }

    @Test
    void anUnknownSpreadIsNoSpreadOfZero() throws Exception {
        Report report = full();
        JsonNode feeds = report.json().path("feeds");
        assertThat(feeds.path(0).has("spread")).isFalse();
        assertThat(feeds.path(0).path("certain").asBoolean()).isFalse();
        assertThat(feeds.path(1).path("spread").asDouble(-1)).isZero();
        assertThat(ReportPage.html(report)).contains("<td class=\"n\">750 MB/s</td><td class=\"n\">1 round</td>");
    }

    @Test
    void aFeederThatMayNotMapItsChunksHasMemoryForThem() throws Exception {
        assertThat(memory(Results.feed(1e5, 1.5e9, 2e9, 10e9))).isEqualTo(1L << 30);
        Measurements.Source named = Results.feed(1e5, 1.5e9, 2e9, 10e9);
        ((ObjectNode) named.json()).put("target", "photos=s3a://bucket/photos");
        assertThat(memory(named)).isEqualTo((1L << 30) + (long) 1e9);
        Measurements.Source running = Results.feed(1e5, 1.5e9, 2e9, 10e9);
        ((ObjectNode) running.json().path("first_epoch")).remove("feeder_start_s");
        assertThat(memory(running)).isEqualTo((1L << 30) + (long) 1e9);
    }

    private static long memory(Measurements.Source feed) throws Exception {
        return report(feed).json().at("/shapes/0/sizing/memory_bytes").asLong();
    }

    @Test
    void anEstimateFromOtherSizesIsMarked() throws Exception {
        Report small = report(Results.feed(45, 1e7, 2e9, 10e9));
        assertThat(ReportPage.html(small)).contains("samples of 45 B, far from 115 kB: measure such samples");
        assertThat(small.json().at("/shapes/0/from_sample_bytes").asDouble()).isEqualTo(45);
        assertThat(small.json().at("/shapes/0").has("accelerators"))
                .as("a count from samples that are 2,548 times smaller")
                .isFalse();
        assertThat(ReportPage.html(report(Results.feed(1e5, 1.5e9, 2e9, 10e9))))
                .contains("<td>samples of 100 kB</td>", "samples of 100 kB, far from 2.83 MB</td>")
                .contains("samples of 100 kB, far from 147 MB: measure such samples");
    }

    @Test
    void theFirstLineNamesTheLimit() throws Exception {
        assertThat(ReportPage.html(full())).contains("<h1>" + full().headline().replace("\"", "&quot;"));
        assertThat(report(Results.feed(1e5, 1.9e9, 2e9, 10e9)).headline())
                .matches("The limit of photos, tcp is (probably )?network \\(2.00 GB/s\\): it reaches 95 % of it");
        assertThat(report(Results.feed(1e5, 1e7, 2e9, 10e9)).headline())
                .startsWith("No measured resource is the limit of photos, tcp: it reaches");
        assertThat(report(Results.demand(0.95)).headline()).startsWith("No feed was measured");
    }

    @Test
    void eachAdviceIsGivenOnce() throws Exception {
        Report report = report(Results.feed(1e5, 1e7, 2e9, 10e9), Results.feed(1.1e5, 1e7, 2e9, 10e9));
        for (Verdict verdict : report.verdicts()) {
            assertThat(ReportPage.html(report)).containsOnlyOnce(Amounts.escaped(verdict.advice()));
        }
    }

    @Test
    void namesInThePictureDoNotCoverEachOther() throws Exception {
        Report report = report(Results.feed(1e5, 1.5e9, 2e9, 10e9), Results.feed(1.1e5, 1.5e9, 2e9, 10e9));
        var texts = xml(RooflineChart.svg(report.roofline(), report.shapes())).getElementsByTagName("text");
        List<double[]> names = new ArrayList<>();
        for (int i = 0; i < texts.getLength(); i++) {
            // Names of marks have one character, and are in the picture.
            if (texts.item(i).getTextContent().matches("[1-9a-z]")) {
                var at = texts.item(i).getAttributes();
                double x = Double.parseDouble(at.getNamedItem("x").getNodeValue());
                double y = Double.parseDouble(at.getNamedItem("y").getNodeValue());
                assertThat(names).noneMatch(other -> Math.abs(other[0] - x) < 10 && Math.abs(other[1] - y) < 10);
                names.add(new double[] {x, y});
            }
        }
        assertThat(names).hasSizeGreaterThanOrEqualTo(4 + report.shapes().size());
    }

    @Test
    void thePageNeedsNothingFromElsewhere() throws Exception {
        String page = ReportPage.html(full());
        assertThat(page.replace("xmlns=\"http://www.w3.org/2000/svg\"", ""))
                .doesNotContain("http:", "https:", "<script", "src=", "href=", "@import", "url(");
        assertThat(page).contains("<svg").endsWith("</html>\n");
    }

    @Test
    void thePictureIsValidXmlWithEachRoofFeedAndShape() throws Exception {
        Report report = full();
        Document svg = xml(RooflineChart.svg(report.roofline(), report.shapes()));
        assertThat(svg.getDocumentElement().getTagName()).isEqualTo("svg");
        // One in the picture and one in the legend.
        assertThat(svg.getElementsByTagName("circle").getLength())
                .isEqualTo(2 * report.roofline().points().size());
        assertThat(svg.getElementsByTagName("polygon").getLength())
                .isEqualTo(2 * report.shapes().size());
        String text = svg.getDocumentElement().getTextContent();
        assertThat(text).contains("storage: 1.00 GB/s", "network: 2.00 GB/s", "resnet50, h100");
    }

    @Test
    void aLongLegendMakesThePictureHigher() throws Exception {
        Measurements.Source[] feeds = new Measurements.Source[14];
        Arrays.setAll(feeds, i -> Results.feed(1e5 + i, 1.5e9, 2e9, 10e9));
        Report report = report(feeds);
        Document svg = xml(RooflineChart.svg(report.roofline(), report.shapes()));
        double height = Double.parseDouble(svg.getDocumentElement().getAttribute("height"));
        var texts = svg.getElementsByTagName("text");
        double lowest = 0;
        for (int i = 0; i < texts.getLength(); i++) {
            lowest = Math.max(
                    lowest,
                    Double.parseDouble(
                            texts.item(i).getAttributes().getNamedItem("y").getNodeValue()));
        }
        assertThat(lowest).isBetween(height - 50, height - 5);
        BufferedImage image =
                ImageIO.read(new ByteArrayInputStream(RooflineChart.png(report.roofline(), report.shapes())));
        assertThat((double) image.getHeight()).isEqualTo(2 * height);
    }

    @Test
    void labelsOfGreatRatesAreShort() throws Exception {
        Report report = report(Results.feed(3, 1.5e9, 2e9, 10e9));
        assertThat(RooflineChart.svg(report.roofline(), report.shapes()))
                .contains(">100,000<", ">1 M<", ">100 M<", ">1 G<")
                .doesNotContain(",000,000<");
    }

    @Test
    void pngAndSvgHaveTheSameShape() throws Exception {
        Report report = full();
        BufferedImage image =
                ImageIO.read(new ByteArrayInputStream(RooflineChart.png(report.roofline(), report.shapes())));
        assertThat((double) image.getWidth() / image.getHeight())
                .isEqualTo((double) RooflineChart.WIDTH / RooflineChart.HEIGHT);
    }

    @Test
    void aPageOfOneMeasurementSaysWhatIsMissing() throws Exception {
        assertThat(ReportPage.html(report(Results.storage(1e9, 4e6, 6e9))))
                .contains("No feed was measured: run stoker bench feed", "<svg");
        assertThat(ReportPage.html(report(Results.demand(0.95)))).contains("No feed was measured");
        assertThat(ReportPage.html(report(Results.feed(1e5, 1e9, 2e9, 10e9)))).contains("The limit is loopback");
    }

    @Test
    void extremeSizesStayInThePicture() throws Exception {
        Report report = report(Results.feed(3, 30, 2e9, 10e9), Results.feed(5e9, 1e9, 2e9, 10e9));
        Document svg = xml(RooflineChart.svg(report.roofline(), report.shapes()));
        var circles = svg.getElementsByTagName("circle");
        for (int i = 0; i < circles.getLength(); i++) {
            var at = circles.item(i).getAttributes();
            assertThat(Double.parseDouble(at.getNamedItem("cx").getNodeValue()))
                    .isBetween(0.0, (double) RooflineChart.WIDTH);
            assertThat(Double.parseDouble(at.getNamedItem("cy").getNodeValue()))
                    .isBetween(0.0, (double) RooflineChart.HEIGHT);
        }
    }
}
