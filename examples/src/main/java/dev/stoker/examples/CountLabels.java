package dev.stoker.examples;

import dev.stoker.connectors.dataset.Sample;
import dev.stoker.connectors.dataset.SampleDeserializer;
import dev.stoker.connectors.dataset.source.StokerSource;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Counts the samples of each class with a Flink job that reads a dataset. It reads only the labels, not the payload.
 *
 * <pre> java -cp 'cli/target/dist/lib/*' examples/src/main/java/dev/stoker/examples/CountLabels.java DATASET</pre>
 */
public final class CountLabels {
    private static final int MAX_CLASSES = 1_000_000;

    private CountLabels() {}

    public static void main(String[] args) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setRuntimeMode(RuntimeExecutionMode.BATCH);
        count(env, args[0]).forEach((label, count) -> System.out.println(label + " " + count));
    }

    static Map<String, Long> count(StreamExecutionEnvironment env, String dataset) throws Exception {
        StokerSource<String> source = StokerSource.<String>builder()
                .setPath(dataset)
                .setColumns("label")
                .setDeserializer(new LabelDeserializer())
                .build();
        List<Tuple2<String, Long>> result = env.fromSource(source, WatermarkStrategy.noWatermarks(), "samples")
                .map(label -> Tuple2.of(label, 1L))
                .returns(Types.TUPLE(Types.STRING, Types.LONG))
                .keyBy(label -> label.f0)
                .sum(1)
                .executeAndCollect("count labels", MAX_CLASSES);
        Map<String, Long> counts = new TreeMap<>();
        result.forEach(label -> counts.put(label.f0, label.f1));
        return counts;
    }

    /** Column 0 is the label. */
    private static final class LabelDeserializer implements SampleDeserializer<String> {
        private static final long serialVersionUID = 1;

        @Override
        public String deserialize(Sample sample) {
            return sample.isNull(0) ? "none" : sample.stringAt(0);
        }

        @Override
        public TypeInformation<String> getProducedType() {
            return Types.STRING;
        }
    }
}
