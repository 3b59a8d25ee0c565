package dev.stoker.hadoop;

import java.io.IOException;
import java.util.NoSuchElementException;
import org.apache.hadoop.fs.RemoteIterator;
import org.jspecify.annotations.Nullable;

/** Leaves out elements and converts the others, while it advances. */
final class FilteredIterator<S, T> implements RemoteIterator<T> {

    /** Selects elements. */
    interface Filter<S> {
        boolean accepts(S element);
    }

    /** Converts an element. */
    interface Conversion<S, T> {
        T of(S element) throws IOException;
    }

    private final RemoteIterator<S> source;
    private final Filter<S> filter;
    private final Conversion<S, T> conversion;
    private @Nullable S next;

    FilteredIterator(RemoteIterator<S> source, Filter<S> filter, Conversion<S, T> conversion) {
        this.source = source;
        this.filter = filter;
        this.conversion = conversion;
    }

    @Override
    public boolean hasNext() throws IOException {
        while (next == null && source.hasNext()) {
            S element = source.next();
            next = filter.accepts(element) ? element : null;
        }
        return next != null;
    }

    @Override
    public T next() throws IOException {
        S element = hasNext() ? next : null;
        if (element == null) {
            throw new NoSuchElementException();
        }
        next = null;
        return conversion.of(element);
    }
}
