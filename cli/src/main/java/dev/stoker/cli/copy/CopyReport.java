package dev.stoker.cli.copy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.output.CommandException;
import dev.stoker.metadata.copy.CopyResult;
import dev.stoker.metadata.verify.Problem;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.schemas.text.Units;
import java.io.PrintWriter;
import java.time.Duration;

/** Describes what a copy has done, or would do. */
final class CopyReport {

    private final CopyEnds ends;

    CopyReport(CopyEnds ends) {
        this.ends = ends;
    }

    void planned(CopyResult plan, PrintWriter out) {
        if (plan.isUnchanged()) {
            out.println(ends.where() + " has version " + plan.version() + " already: nothing to copy");
            return;
        }
        out.println("would copy " + what(plan) + " to " + ends.where() + "; run without --dry-run to copy");
    }

    private static String what(CopyResult result) {
        return Units.plural(result.versions(), "version") + " and "
                + Units.plural(result.copied().count(), "chunk") + ", "
                + Units.bytes(result.copied().bytes());
    }

    void print(CopyResult result, Duration time, PrintWriter out) {
        for (Problem problem : result.problems()) {
            out.println("chunk " + problem.chunk() + ": "
                    + (problem.message().contains(problem.file()) ? "" : problem.file() + " ") + problem.message());
        }
        if (result.isUnchanged()) {
            out.println(ends.where() + " has version " + result.version() + " already: nothing was copied");
            return;
        }
        String others = result.others().count() == 0
                ? ""
                : " and " + Units.plural(result.others().count(), "other file");
        out.println(ends.where() + " has version " + result.version() + ": copied " + what(result) + others + ", in "
                + Units.seconds(time) + "; "
                + Units.plural(result.present(), "chunk") + (result.present() == 1 ? " was" : " were")
                + " there before");
    }

    /** Returns the error of a copy that has left out damaged chunks. */
    CommandException incomplete(CopyResult result) {
        long count = result.problems().size();
        String needed = result.version() == result.wanted()
                ? ""
                : ", so versions after " + result.version() + " were not copied";
        return new CommandException(Units.plural(count, "chunk") + " of "
                + ends.dataset().where() + (count == 1 ? " is" : " are") + " damaged" + needed
                + "; restore them from another copy, see stoker verify "
                + ShellText.word(ends.dataset().where()) + ", and run the command again");
    }

    ObjectNode json(CopyResult result, Duration time) {
        ObjectNode root = Json.object();
        root.put("source", ends.dataset().where()).put("target", ends.where());
        root.put("before", result.before()).put("version", result.version()).put("wanted", result.wanted());
        root.put("versions", result.versions());
        root.put("chunks", result.copied().count()).put("bytes", result.copied().bytes());
        root.put("present", result.present());
        root.put("other_files", result.others().count());
        root.putArray("problems");
        for (Problem problem : result.problems()) {
            root.withArray("problems")
                    .addObject()
                    .put("chunk", problem.chunk())
                    .put("file", problem.file())
                    .put("message", problem.message());
        }
        root.put("seconds", time.toMillis() / 1e3);
        return root;
    }
}
