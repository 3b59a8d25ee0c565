package dev.stoker.metadata.index.run;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.schemas.dataset.ErasedChunk;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads which chunks the erasures of a dataset delete or have deleted. */
public final class DeletedChunkIds {

    private static final Logger LOG = LoggerFactory.getLogger(DeletedChunkIds.class);

    private DeletedChunkIds() {}

    /**
     * Returns the chunks. An erasure records them before it deletes the first one, and before it deletes runs of the
     * sample index.
     */
    public static Set<UUID> read(Dataset dataset) throws IOException {
        Set<UUID> ids = new HashSet<>();
        for (ObjectInfo record : dataset.store().list(DatasetLayout.ERASURES).toList()) {
            String name = record.name();
            if (name.endsWith("/" + Erasure.Phase.BEGUN.file())) {
                continue;
            }
            try {
                byte[] content = dataset.store().readAll(name, Erasure.MAX_BYTES);
                Erasure.decode(content, dataset.store().describe(name)).result().stream()
                        .flatMap(result -> result.removed().stream())
                        .map(ErasedChunk::id)
                        .forEach(ids::add);
            } catch (NoSuchObjectException e) {
                // The erasure has written its certificate since the listing, which may not have it.
                ids.addAll(read(dataset));
            } catch (CorruptDataException | ForeignFileException | FormatTooNewException e) {
                LOG.warn("Ignoring {}: {}", dataset.store().describe(name), ErrorText.of(e));
            }
        }
        return ids;
    }
}
