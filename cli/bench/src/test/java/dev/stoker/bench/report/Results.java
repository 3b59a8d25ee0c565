package dev.stoker.bench.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stoker.bench.report.Measurements.Source;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Locale;

/** Results with chosen figures. */
final class Results {

    private static final JsonMapper MAPPER = new JsonMapper();

    private Results() {}

    private static JsonNode json(String text) {
        try {
            return MAPPER.readTree(text.replace('\'', '"'));
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Without other values, three rounds without a spread. */
    private static String rounds(double value, double... others) {
        double[] values = new double[others.length == 0 ? 3 : others.length + 1];
        Arrays.fill(values, value);
        System.arraycopy(others, 0, values, 1, others.length);
        return "{'rounds':" + Arrays.toString(values) + "}";
    }

    /** Cold reads of 1 MiB and of 4 KiB, and warm reads, in bytes a second. */
    static Source storage(double cold, double small, double warm) {
        return new Source(
                "storage.json",
                json("{'bench':'storage','format':1,'time':'2026-01-01T00:00:00Z','target':'./data',"
                        + "'machine':{'processors':4,'model':'m','system':'Linux','java':'17','load':0.1},'reads':["
                        + read("sequential", "cold", 1 << 20, cold)
                        + "," + read("random", "cold", 1 << 20, cold / 2)
                        + "," + read("random", "cold", 4096, small)
                        + "," + read("sequential", "warm", 1 << 20, warm)
                        + "],'notes':['cold <note>']}"));
    }

    private static String read(String pattern, String cache, int block, double rate) {
        return String.format(
                Locale.ROOT,
                "{'pattern':'%s','cache':'%s','block_bytes':%d,'depth':4,'bytes_per_s':%s}",
                pattern,
                cache,
                block,
                rounds(rate * 0.9, rate, rate * 1.1));
    }

    /** Processor seconds for each GB. */
    record Cpu(double consumer, double sender) {}

    /** A feed whose first epoch has half of its rate, beside a plain stream. */
    static Source feed(double sampleBytes, double rate, double plain, double memory) {
        return feed(sampleBytes, rate, plain, memory, new Cpu(0.3, 0.5));
    }

    static Source feed(double sampleBytes, double rate, double plain, double memory, Cpu cpu) {
        return new Source(
                "feed.json",
                json("{'bench':'feed','format':1,'time':'2026-01-01T00:00:00Z','target':'./data',"
                        + "'machine':{'processors':4,'model':'m','system':'Linux','java':'17','load':0.1},"
                        + "'dataset':'photos',"
                        + "'samples':1000,'batch_size':64,'sample_bytes':" + sampleBytes
                        + ",'first_epoch':{'feeder_start_s':2,'samples':1000,'samples_per_s':" + rate / 2 / sampleBytes
                        + "},'systems':["
                        + "{'system':'plain stream','transport':'tcp','bytes_per_s':" + rounds(plain) + "},"
                        + "{'system':'feed','transport':'tcp','bytes_per_s':" + rounds(rate) + ",'samples_per_s':"
                        + rounds(rate / sampleBytes) + ",'consumer_cpu_s_per_gb':" + rounds(cpu.consumer())
                        + ",'sender_cpu_s_per_gb':"
                        + rounds(cpu.sender()) + "}],'memory_copy_bytes_per_s':" + rounds(memory) + ",'notes':[]}"));
    }

    static Source demand(double utilization) {
        return new Source(
                "demand.json",
                json("{'bench':'demand','format':1,'time':'2026-01-01T00:00:00Z','machine':{},"
                        + "'shapes':[{'shape':'resnet50','accelerator':'h100','sample_bytes':114660.07,"
                        + "'batch_size':400,"
                        + "'computation_time_s':0.224,'utilization':0.9,'source':'x'}],'runs':[{'shape':'resnet50',"
                        + "'accelerator':'h100','accelerators':2,'met':" + (utilization >= 0.9)
                        + ",'utilization':{'median':"
                        + utilization + "}}],'notes':[]}"));
    }
}
