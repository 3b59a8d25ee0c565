package dev.stoker.connectors.types;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Serializer of values that never change, each written and read whole: nothing is copied, nothing is reused. A subclass is a
 * singleton and has a snapshot class of its own, whose name stands in savepoints.
 *
 * @param <T> the values
 */
public abstract class ValueSerializer<T> extends TypeSerializerSingleton<T> {

    private static final long serialVersionUID = 1;

    @Override
    public final boolean isImmutableType() {
        return true;
    }

    @Override
    public final T copy(T from) {
        return from;
    }

    @Override
    public final T copy(T from, T reuse) {
        return from;
    }

    @Override
    public final int getLength() {
        return -1;
    }

    @Override
    public final T deserialize(T reuse, DataInputView in) throws IOException {
        return deserialize(in);
    }

    @Override
    public void copy(DataInputView in, DataOutputView out) throws IOException {
        serialize(deserialize(in), out);
    }
}
