package dev.stoker.schemas.log;

import java.util.Optional;

/** Lists the kinds of commits. */
public enum Operation {
    /** Chunks were added. */
    INGEST("ingest"),
    /** All chunks of the version before were removed, and others added. */
    REPLACE("replace"),
    /** Samples were removed. */
    REMOVE("remove"),
    /** Small fields of samples got other values. */
    UPDATE("update"),
    /** Chunks were rewritten into others with the same samples. */
    COMPACT("compact"),
    /** Nothing changed; an ingest was abandoned and can never commit under its id. */
    ABANDON("abandon"),
    /** No sample changed; old versions were expired, so that files of their chunks may be deleted. */
    EXPIRE("expire"),
    /** The entry was lost, and rebuilt from the chunks' heads. */
    RECOVERED("recovered");

    private final String code;

    Operation(String code) {
        this.code = code;
    }

    /** Returns the name in files. */
    public String code() {
        return code;
    }

    static Optional<Operation> ofCode(String code) {
        for (Operation operation : values()) {
            if (operation.code.equals(code)) {
                return Optional.of(operation);
            }
        }
        return Optional.empty();
    }
}
