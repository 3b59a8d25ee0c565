package dev.stoker.ingest;

import dev.stoker.schemas.arrow.Field;
import java.util.List;

/**
 * What an ingest is going to do.
 *
 * @param fields of the dataset, in its order
 * @param lines the plan in words, for people
 */
public record IngestPlan(List<Field> fields, List<String> lines) {
    public IngestPlan {
        fields = List.copyOf(fields);
        lines = List.copyOf(lines);
    }
}
