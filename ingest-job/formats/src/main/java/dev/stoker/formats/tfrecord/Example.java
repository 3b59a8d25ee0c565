package dev.stoker.formats.tfrecord;

import dev.stoker.formats.tfrecord.ProtoInput.NotAMessageException;
import dev.stoker.formats.values.Utf8;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Reads a message {@code tf.train.Example}: {@code Example{1: Features{1: map<string, Feature>}}}. Skips fields that an
 * Example does not have, as protobuf does, but refuses a message that has nothing else: it is another one.
 */
final class Example {
    private static final int FEATURES = 1;
    private static final int FEATURE_LISTS = 2;

    private Example() {}

    /** Returns the features of a record by name. A feature without a list is left out. */
    static Map<String, ExampleFeature> parse(ByteBuffer record, RecordFrames frames) throws IOException {
        Map<String, ExampleFeature> features = new LinkedHashMap<>();
        int unknown = 0;
        try {
            ProtoInput example = new ProtoInput(record.duplicate());
            while (example.next()) {
                if (example.is(FEATURE_LISTS, ProtoInput.LENGTH)) {
                    throw frames.unsupported(
                            "is a tf.train.SequenceExample; write its features as tf.train.Example," + " with lists");
                }
                if (!example.is(FEATURES, ProtoInput.LENGTH)) {
                    unknown = example.field();
                    example.skip();
                    continue;
                }
                ProtoInput map = new ProtoInput(example.slice());
                while (map.next()) {
                    if (!map.is(1, ProtoInput.LENGTH)) {
                        throw new NotAMessageException("its features are not a map");
                    }
                    entry(map.slice(), features);
                }
            }
            if (unknown > 0 && features.isEmpty()) {
                throw new NotAMessageException("it has a field " + unknown);
            }
        } catch (NotAMessageException e) {
            throw frames.unsupported("is not a tf.train.Example (" + e.getMessage()
                    + "); other messages in TFRecord files cannot be read");
        }
        return features;
    }

    private static void entry(ByteBuffer message, Map<String, ExampleFeature> features) throws NotAMessageException {
        String name = "";
        ByteBuffer value = ByteBuffer.allocate(0);
        ProtoInput entry = new ProtoInput(message);
        while (entry.next()) {
            if (entry.is(1, ProtoInput.LENGTH)) {
                name = Utf8.decodeOrNull(entry.slice());
                if (name == null) {
                    throw new NotAMessageException("the name of a feature is not UTF-8");
                }
            } else if (entry.is(2, ProtoInput.LENGTH)) {
                value = entry.slice();
            } else {
                throw new NotAMessageException("its features are not a map");
            }
        }
        ExampleFeature feature = ExampleFeature.parse(value);
        if (feature != null && features.put(name, feature) != null) {
            throw new NotAMessageException("the feature " + Utf8.shown(name) + " is there twice");
        }
    }
}
