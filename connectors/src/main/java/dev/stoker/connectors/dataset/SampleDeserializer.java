package dev.stoker.connectors.dataset;

import java.io.IOException;
import java.io.Serializable;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.typeutils.ResultTypeQueryable;

/**
 * Makes records of samples. Flink serializes it with the job graph, and each parallel source has its own copy.
 *
 * @param <T> the type of the records
 */
public interface SampleDeserializer<T> extends Serializable, ResultTypeQueryable<T> {

    /**
     * Returns the record of a sample. It must copy values that it keeps, because the sample's memory is reused.
     *
     * @throws IOException if the sample cannot be represented; the job fails
     */
    T deserialize(Sample sample) throws IOException;

    @Override
    TypeInformation<T> getProducedType();
}
