package dev.stoker.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.text.Units;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;

/** The page as one HTML document, with the picture in it. It needs no other file, no script and no network. */
public final class ReportPage {

    private static final String HEAD = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <title>Stoker bench</title>
            <meta name="viewport" content="width=device-width">
            <style>
            """;

    private static final String STYLE = """
            h1 { font-size: 1.4em; line-height: 1.3; }
            body { font-family: sans-serif; color: #222; background: #fff; max-width: 1000px; margin: 2em auto;
                   padding: 0 1em; line-height: 1.4; }
            table { border-collapse: collapse; margin: 0.5em 0 1.5em; }
            th, td { border-bottom: 1px solid #ddd; padding: 0.25em 0.8em 0.25em 0; text-align: left;
                     vertical-align: top; }
            td.n, th.n { text-align: right; }
            svg { max-width: 100%; height: auto; }
            .quiet { color: #666; }
            code { background: #f3f3f3; padding: 0 0.2em; }
            """;

    private final StringBuilder html = new StringBuilder();

    private ReportPage() {}

    /** Returns the document. */
    public static String html(Report report) {
        ReportPage page = new ReportPage();
        page.write(report);
        return page.html.toString();
    }

    private void write(Report report) {
        html.append(HEAD).append(STYLE).append("</style>\n</head>\n<body>\n<h1>");
        html.append(Amounts.escaped(report.headline())).append("</h1>\n");
        machines(report.findings());
        limits(report);
        html.append("<h2>Roofline</h2>\n");
        paragraph("Each line is a resource that allows some bytes per second; a feed cannot be above a line that it"
                + " needs. A diamond below a feed's circle, at the same bytes, is an accelerator that the feed can"
                + " keep busy.");
        html.append(RooflineChart.svg(report.roofline(), report.shapes()));
        supplies(report);
        sizing(report);
        noise(report.findings());
        html.append("</body>\n</html>\n");
    }

    private void machines(Measurements findings) {
        Set<String> machines = new LinkedHashSet<>();
        for (JsonNode json : findings.all()) {
            JsonNode machine = json.path("machine");
            machines.add(String.format(
                    Locale.ROOT,
                    "%s: %s, %s, %s, Java %s, load %.1f, %s",
                    name(json),
                    Units.plural(machine.path("processors").asLong(), "processor"),
                    machine.path("model").asText(),
                    machine.path("system").asText(),
                    machine.path("java").asText(),
                    machine.path("load").asDouble(),
                    json.path("time").asText()));
        }
        html.append("<p class=\"quiet\">");
        html.append(
                String.join("<br>\n", machines.stream().map(Amounts::escaped).toList()));
        html.append("</p>\n");
    }

    /** Returns the name of a measurement: its verb and its target. */
    private static String name(JsonNode json) {
        return json.path("bench").asText()
                + (json.path("target").isTextual() ? " " + json.path("target").asText() : "");
    }

    private void limits(Report report) {
        html.append("<h2>Which resource is the limit</h2>\n");
        if (report.verdicts().isEmpty()) {
            paragraph("No feed was measured: run stoker bench feed.");
        }
        if (!report.verdicts().isEmpty()) {
            begin("Feed", "n:Samples/s", "n:Bytes of a sample", "n:Bytes/s", "n:Spread", "Limit");
            for (Verdict verdict : report.verdicts()) {
                FeedPoint point = verdict.point();
                row(
                        point.name(),
                        "n:" + Amounts.count(point.samplesPerSecond()),
                        "n:" + Units.bytes(Math.round(point.sampleBytes())),
                        "n:" + Units.rate(point.bytesPerSecond()),
                        "n:" + spread(point.spread()),
                        verdict.text());
            }
            end();
            html.append("<h2>What to change</h2>\n<ul>\n");
            Map<String, List<String>> advice = new LinkedHashMap<>();
            for (Verdict verdict : report.verdicts()) {
                advice.computeIfAbsent(verdict.advice(), text -> new ArrayList<>())
                        .add(verdict.point().name());
            }
            advice.forEach((text, feeds) -> item(String.join("; ", feeds) + ": " + text));
            html.append("</ul>\n");
        }
        if (!report.roofline().roofs().isEmpty()) {
            begin("Roof", "n:Bytes per second", "How it was measured", "n:Spread");
            for (Roof roof : report.roofline().roofs()) {
                row(
                        roof.resource().toString(),
                        "n:" + Units.rate(roof.bytesPerSecond()),
                        roof.name(),
                        "n:" + spread(roof.spread()));
            }
            end();
        }
    }

    private static String spread(double spread) {
        if (Double.isNaN(spread)) {
            return "1 round";
        }
        return spread == 0 ? "–" : Amounts.percent(spread);
    }

    private void supplies(Report report) {
        if (report.supplies().isEmpty()) {
            return;
        }
        html.append("<h2>Accelerators that this feed keeps busy</h2>\n");
        paragraph("Estimated from the feed over TCP with the nearest bytes of a sample. The estimate is cautious: it"
                + " assumes no more bytes per second for larger samples, and no more samples per second for smaller"
                + " ones. If a shape has much larger or smaller samples, measure a dataset with samples of that size."
                + " One consumer was measured; several can reach more on a machine with free processors. The last"
                + " column is measured with emulated accelerators, if there are any.");
        begin("Shape", "On", "n:Asks for", "n:Feed", "Estimated from", "n:Busy at", "n:Accelerators", "Emulated");
        for (Report.Supply supply : report.supplies()) {
            List<String> emulated = new ArrayList<>();
            supply.measured()
                    .forEach(run -> emulated.add(Units.plural(run.accelerators(), "accelerator") + " computed "
                            + Amounts.percent(run.utilization()) + (run.isMet() ? "" : " (missed)")));
            row(
                    supply.shape().name(),
                    supply.shape().accelerator(),
                    "n:" + Amounts.count(supply.shape().samplesPerSecond()) + " samples/s",
                    "n:" + (supply.isEstimate() ? Amounts.count(supply.samplesPerSecond()) + " samples/s" : "–"),
                    supply.isEstimate() ? supply.from() : supply.from() + ": measure such samples",
                    "n:≥ " + Amounts.percent(supply.shape().utilization()),
                    "n:" + (supply.isEstimate() ? Units.count(supply.accelerators()) : "–"),
                    String.join("; ", emulated));
        }
        end();
    }

    private void sizing(Report report) {
        if (report.supplies().isEmpty()) {
            return;
        }
        html.append("<h2>Sizing</h2>\n");
        html.append("<ul>\n");
        item("samples/s = accelerators × samples/s of one × least utilization");
        item("bytes/s = samples/s × bytes of a sample");
        item("feeders = ⌈samples/s ÷ samples/s of the feed, as above⌉, or ⌈bytes/s × 1.05 ÷ bytes/s of a given network⌉"
                + " if that is more");
        item("network of each feeder = bytes/s × 1.05 × 8 ÷ feeders");
        item("processors of each feeder = GB/s × its processor seconds for each GB ÷ feeders; samples smaller than the"
                + " measured ones cost the same each");
        item("memory of each feeder = 1 GiB, and if its chunks are not on a mounted file system, 2 GiB or the bytes of"
                + " the dataset, whichever is smaller; also for a feed that ran before, because it is unknown where its"
                + " chunks are");
        item("tiers of each feeder = bytes of the measured dataset ÷ feeders; it needs them if the origin delivers"
                + " fewer bytes/s");
        html.append("</ul>\n");
        begin(
                "Accelerators",
                "n:Samples/s",
                "n:Bytes/s",
                "n:Feeders",
                "n:Network each",
                "n:Processors each",
                "n:Memory each",
                "n:Tiers each");
        for (Report.Supply supply : report.supplies()) {
            if (!supply.isEstimate()) {
                continue;
            }
            Sizing sizing = supply.sizing();
            row(
                    supply.wanted() + " × " + supply.shape().name() + ", "
                            + supply.shape().accelerator(),
                    "n:" + Amounts.count(sizing.samplesPerSecond()),
                    "n:" + Units.rate(sizing.bytesPerSecond()),
                    "n:" + Units.count(sizing.feeders()),
                    "n:" + Amounts.bits(sizing.networkBitsPerSecond()),
                    "n:" + optional(sizing.feederProcessors(), ""),
                    "n:" + Units.bytes((long) sizing.memoryBytes()),
                    "n:"
                            + (sizing.tierBytes().isPresent()
                                    ? Units.bytes((long) sizing.tierBytes().getAsDouble())
                                    : "–"));
        }
        end();
    }

    private static String optional(OptionalDouble value, String unit) {
        return value.isPresent() ? Amounts.count(value.getAsDouble()) + unit : "–";
    }

    private void noise(Measurements findings) {
        html.append("<h2>How far to trust these figures</h2>\n<ul>\n");
        item("Each figure is the median of its rounds. The spread is the distance between the least and the greatest"
                + " round, relative to the median. Differences below the spread mean nothing.");
        item("Feeder, consumer and plain sender shared the processors of one machine. On separate machines each has its"
                + " own.");
        Set<String> notes = new LinkedHashSet<>();
        for (JsonNode json : findings.all()) {
            json.path("notes").forEach(note -> notes.add(name(json) + ": " + note.asText()));
        }
        findings.note().ifPresent(this::item);
        notes.forEach(this::item);
        html.append("</ul>\n");
    }

    private void paragraph(String text) {
        html.append("<p>").append(Amounts.escaped(text)).append("</p>\n");
    }

    private void item(String text) {
        html.append("<li>").append(Amounts.escaped(text)).append("</li>\n");
    }

    private void begin(String... titles) {
        html.append("<table>\n");
        cells("th", titles);
    }

    private void row(String... values) {
        cells("td", values);
    }

    /** Cells that begin with {@code n:} are numbers. */
    private void cells(String tag, String... values) {
        html.append("<tr>");
        for (String value : values) {
            boolean isNumber = value.startsWith("n:");
            html.append('<')
                    .append(tag)
                    .append(isNumber ? " class=\"n\">" : ">")
                    .append(Amounts.escaped(isNumber ? value.substring(2) : value))
                    .append("</")
                    .append(tag)
                    .append('>');
        }
        html.append("</tr>\n");
    }

    private void end() {
        html.append("</table>\n");
    }
}
