package dev.stoker.cli.feed;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.metadata.audit.RequiredEpochs;
import dev.stoker.metadata.audit.report.AuditReport;
import dev.stoker.metadata.audit.report.BatchRange;
import dev.stoker.metadata.audit.report.EpochBatches;
import dev.stoker.metadata.audit.report.Finding;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.text.Units;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Formats an audit as text and as JSON. */
final class AuditText {

    private static final int FINDINGS_SHOWN = 20;

    private AuditText() {}

    /** @param required the epochs that must be complete */
    static void print(AuditReport report, RequiredEpochs required, String ledger, PrintWriter out) {
        out.println("ledger " + ledger + ": " + Units.plural(report.files(), "file") + ", "
                + Units.plural(report.receipts(), "receipt")
                + (report.duplicates() == 0 ? "" : " (" + Units.count(report.duplicates()) + " of them twice)"));
        for (AuditReport.Pass pass : report.passes()) {
            OrderSpec order = OrderSpec.fromJson(pass.order());
            out.println("stream " + pass.stream() + ", group " + pass.group()
                    + (pass.replica() == 0 ? "" : ", replica " + pass.replica()) + ": "
                    + (follows(pass) ? "following its dataset" : "version " + pass.version()) + ", split "
                    + pass.split() + ", batches of " + order.batchSize() + ", seed " + order.seed() + "; "
                    + Units.plural(pass.runs().size(), "run"));
            printEpochs(pass, required.of(pass.stream(), pass.group()), out);
        }
        for (Finding.Kind kind : Finding.Kind.values()) {
            List<Finding> findings =
                    report.findings().stream().filter(f -> f.kind() == kind).toList();
            findings.stream().limit(FINDINGS_SHOWN).forEach(f -> out.println(kind + ": " + f.message()));
            long more = report.counts().getOrDefault(kind, 0L) - Math.min(FINDINGS_SHOWN, findings.size());
            if (more > 0) {
                out.println(kind + ": " + Units.count(more) + " more");
            }
        }
        if (report.passes().isEmpty() && report.isClean()) {
            out.println("nothing was delivered yet");
        } else if (report.isClean()) {
            out.println("audit passed: no batch is missing, altered or foreign");
        } else {
            out.println("audit failed: "
                    + report.counts().entrySet().stream()
                            .sorted(Map.Entry.comparingByKey())
                            .map(e -> Units.count(e.getValue()) + " " + e.getKey())
                            .collect(Collectors.joining(", ")));
        }
    }

    /** Prints a line for each range of epochs with the same results. */
    private static void printEpochs(AuditReport.Pass pass, long required, PrintWriter out) {
        List<AuditReport.Epoch> epochs = pass.epochs();
        int shown = epochs.size();
        // Trainers ask for the next epoch before the model has finished one.
        while (shown > Math.max(1, required) && isUntouched(epochs.get(shown - 1))) {
            shown--;
        }
        for (int first = 0; first < shown; ) {
            String text = describe(pass, epochs.get(first));
            int next = first + 1;
            while (next < shown && text.equals(describe(pass, epochs.get(next)))) {
                next++;
            }
            out.println(
                    next == first + 1 ? "  epoch " + first + text : "  epochs " + first + " to " + (next - 1) + text);
            first = next;
        }
    }

    private static String describe(AuditReport.Pass pass, AuditReport.Epoch epoch) {
        return (follows(pass) ? " (version " + epoch.version() + ")" : "") + ": " + describe(epoch);
    }

    /** Returns whether the audit knows nothing of an epoch but its length. */
    private static boolean isUntouched(AuditReport.Epoch epoch) {
        return epoch.open().count() == epoch.batches();
    }

    private static boolean follows(AuditReport.Pass pass) {
        return pass.fingerprint().isEmpty();
    }

    private static String describe(AuditReport.Epoch epoch) {
        List<String> parts = new ArrayList<>();
        if (isUntouched(epoch)) {
            return "nothing acknowledged yet";
        }
        parts.add(Units.count(epoch.acknowledged()) + " of " + Units.plural(epoch.batches(), "batch")
                + (epoch.acknowledged() == epoch.batches() ? " exactly once" : ""));
        if (epoch.missing() > 0) {
            parts.add(Units.count(epoch.missing()) + " missing");
        }
        if (epoch.asserted().count() > 0) {
            parts.add(Units.count(epoch.asserted().count()) + " asserted by the trainer's position, without receipt ("
                    + epoch.asserted() + ")");
        }
        if (epoch.leftOut() > 0) {
            parts.add(Units.count(epoch.leftOut()) + " left out (tail drop)");
        }
        if (epoch.skippedBatches().count() > 0) {
            parts.add("skipped " + Units.plural(epoch.skippedBatches().count(), "batch") + ", as asked ("
                    + epoch.skippedBatches() + ")");
        }
        if (epoch.open().count() > 0) {
            parts.add(Units.count(epoch.open().count()) + " open (" + epoch.open() + ")");
        }
        if (epoch.repeated() > 0) {
            parts.add(Units.count(epoch.repeated()) + " repeated to keep ranks even");
        }
        if (epoch.superseded() > 0) {
            parts.add(Units.plural(epoch.superseded(), "receipt") + " of batches that a later run had again");
        }
        int skipped =
                epoch.skipped().stream().mapToInt(AuditReport.Skipped::rows).sum();
        if (skipped > 0) {
            parts.add(Units.plural(skipped, "damaged sample") + " skipped");
        }
        String text = String.join(", ", parts);
        for (AuditReport.Skipped piece : epoch.skipped()) {
            text += System.lineSeparator() + "    batch " + piece.number() + " lacks "
                    + String.join(", ", piece.samples());
        }
        return text;
    }

    static ObjectNode json(AuditReport report, String ledger) {
        ObjectNode root = Json.object();
        root.put("clean", report.isClean()).put("ledger", ledger);
        root.put("files", report.files()).put("records", report.records());
        root.put("receipts", report.receipts()).put("duplicates", report.duplicates());
        ArrayNode passes = root.putArray("passes");
        report.passes().forEach(pass -> passes.add(json(pass)));
        ObjectNode counts = root.putObject("counts");
        report.counts().forEach((kind, count) -> counts.put(kind.toString(), count));
        ArrayNode findings = root.putArray("findings");
        report.findings()
                .forEach(f -> findings.addObject()
                        .put("kind", f.kind().toString())
                        .put("message", f.message())
                        .put("batches", f.batches()));
        return root;
    }

    private static ObjectNode json(AuditReport.Pass pass) {
        ObjectNode node = Json.object();
        node.put("feed", pass.feed()).put("stream", pass.stream()).put("group", pass.group());
        node.put("replica", pass.replica()).put("dataset", pass.dataset());
        node.put("version", pass.version()).put("split", pass.split());
        node.set("order", Json.PLAIN.valueToTree(pass.order()));
        node.put("fingerprint", pass.fingerprint()).put("batches", pass.batches());
        ArrayNode runs = node.putArray("runs");
        pass.runs().forEach(runs::add);
        ArrayNode epochs = node.putArray("epochs");
        for (AuditReport.Epoch epoch : pass.epochs()) {
            ObjectNode one = epochs.addObject();
            one.put("epoch", epoch.epoch()).put("version", epoch.version()).put("batches", epoch.batches());
            one.put("acknowledged", epoch.acknowledged());
            one.put("missing", epoch.missing()).put("left_out", epoch.leftOut());
            one.put("repeated", epoch.repeated()).put("superseded", epoch.superseded());
            one.set("asserted", json(epoch.asserted()));
            one.set("skipped_batches", json(epoch.skippedBatches()));
            one.set("open", json(epoch.open()));
            ArrayNode skipped = one.putArray("skipped");
            for (AuditReport.Skipped piece : epoch.skipped()) {
                ArrayNode samples = skipped.addObject()
                        .put("number", piece.number())
                        .put("piece", piece.piece())
                        .put("rows", piece.rows())
                        .putArray("samples");
                piece.samples().forEach(samples::add);
            }
        }
        return node;
    }

    private static ObjectNode json(EpochBatches batches) {
        ObjectNode node = Json.object();
        node.put("count", batches.count());
        ArrayNode ranges = node.putArray("ranges");
        for (BatchRange range : batches.ranges()) {
            ranges.addArray().add(range.first()).add(range.last());
        }
        return node;
    }
}
