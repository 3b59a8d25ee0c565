package dev.stoker.cli.keep;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.Errors;
import dev.stoker.cli.output.ReadProgress;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.erasure.ErasureCheck;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import picocli.CommandLine.Model.CommandSpec;

/** The part of {@code stoker verify --erased} after its arguments. */
final class CertificateCheck {

    private CertificateCheck() {}

    static int run(CommandSpec spec, Dataset dataset, Path file, int threads, boolean isJson) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new CommandException("there is no file " + file + "; the dataset keeps its certificates in "
                    + dataset.where() + "/_stoker/erasures");
        }
        Erasure certificate = Erasure.decode(Files.readAllBytes(file), file.toString());
        AtomicInteger read = new AtomicInteger();
        ErasureCheck check = new ErasureCheck(
                dataset, certificate, file.toString(), threads, InstantSource.system(), read::addAndGet);
        ErasureCheck.Report report;
        try (ReadProgress progress = new ReadProgress(
                spec.commandLine().getErr(), () -> "verifying: " + Units.plural(read.get(), "chunk") + " read")) {
            report = check.run();
            progress.end();
        }
        print(spec.commandLine().getOut(), dataset, certificate, report, isJson);
        return report.isClean() ? 0 : Errors.FAILED;
    }

    private static void print(
            PrintWriter out, Dataset dataset, Erasure certificate, ErasureCheck.Report report, boolean isJson) {
        int keys = certificate.keys().hashes().size();
        if (isJson) {
            ObjectNode root = Json.object();
            root.put("path", dataset.where()).put("erasure", certificate.id());
            root.put("clean", report.isClean()).put("keys", keys);
            root.put("chunks", report.chunks()).put("rows", report.rows());
            add(root.putArray("findings"), report.findings());
            add(root.putArray("again"), report.again());
            certificate.result().orElseThrow().notReached().forEach(root.putArray("not_reached")::add);
            out.println(root);
            return;
        }
        report.findings().forEach(finding -> out.println(finding.file() + " " + finding.message()));
        report.again().forEach(finding -> out.println("added again: " + finding.file() + " " + finding.message()));
        out.println("erasure " + certificate.id() + " of " + Units.plural(keys, "key") + ": "
                + Units.plural(report.rows(), "row") + " in " + Units.plural(report.chunks(), "chunk file")
                + " compared: "
                + (report.isClean()
                        ? "nothing of them is left"
                        : Units.plural(report.findings().size(), "finding")));
    }

    private static void add(ArrayNode array, List<ErasureCheck.Finding> findings) {
        findings.forEach(
                finding -> array.addObject().put("file", finding.file()).put("message", finding.message()));
    }
}
