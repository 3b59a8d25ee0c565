package dev.stoker.ingest;

import dev.stoker.schemas.arrow.Field;
import java.util.List;

/**
 * The plan of an ingest.
 *
 * @param fields of the dataset, in its order
 * @param lines the plan as text
 */
public record IngestPlan(List<Field> fields, List<String> lines) {
    public IngestPlan {
        fields = List.copyOf(fields);
        lines = List.copyOf(lines);
    }
}
