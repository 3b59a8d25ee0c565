package dev.stoker.cli.ingest;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.json.Json;
import java.io.PrintWriter;
import java.util.List;

/** The plan of {@code --dry-run}, as text or JSON. */
public final class PlanReport {

    private PlanReport() {}

    public static void print(List<String> lines, boolean json, PrintWriter out) {
        if (json) {
            out.println(json(lines));
        } else {
            lines.forEach(out::println);
        }
    }

    public static ObjectNode json(List<String> lines) {
        ObjectNode root = Json.object().put("dry_run", true);
        lines.forEach(root.putArray("plan")::add);
        return root;
    }
}
