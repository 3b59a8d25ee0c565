package dev.stoker.sql.table;

import dev.stoker.connectors.dataset.MeteredStores;

/** The connector {@code metered}: like {@code stoker}, but counts the bytes that are read of chunks. */
public final class MeteredTableFactory extends StokerTableFactory {

    public MeteredTableFactory() {
        super("metered", MeteredStores::open);
    }
}
