package dev.stoker.connectors.dataset;

/** The origin of the keys of written samples. */
public enum SampleKeys {
    /** The sink makes the keys, so no other sample has them. */
    GENERATED,
    /** The records have keys. The sink looks for samples with the same keys before it commits. */
    GIVEN
}
