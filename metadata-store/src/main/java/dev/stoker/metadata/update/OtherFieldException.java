package dev.stoker.metadata.update;

import dev.stoker.schemas.arrow.types.Field;
import java.io.IOException;

/** Reports that a version has a field of the name of an added one, with another type. Nothing was committed. */
public final class OtherFieldException extends IOException {

    private static final long serialVersionUID = 1;

    OtherFieldException(String dataset, long version, Field own, Field added) {
        super("version " + version + " of dataset " + dataset + " has a field " + own.name() + " of type "
                + own.type().canonical() + "; it cannot be added with the type "
                + added.type().canonical() + "; nothing was committed");
    }
}
