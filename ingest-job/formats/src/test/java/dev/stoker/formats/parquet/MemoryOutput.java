package dev.stoker.formats.parquet;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.function.UnaryOperator;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.compression.CompressionCodecFactory;
import org.apache.parquet.conf.ParquetConfiguration;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroupFactory;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.OutputFile;
import org.apache.parquet.io.PositionOutputStream;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;

/** Writes Parquet files into memory with parquet-java. */
public final class MemoryOutput implements OutputFile {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    /** Adds rows to a file. */
    public interface Rows {
        void write(SimpleGroupFactory factory, RowConsumer out) throws IOException;
    }

    /** Takes rows. */
    public interface RowConsumer {
        void add(Group row) throws IOException;
    }

    /** Returns a file with a schema, in the words of Parquet. */
    public static byte[] write(String schema, UnaryOperator<ExampleParquetWriter.Builder> options, Rows rows)
            throws IOException {
        MemoryOutput file = new MemoryOutput();
        MessageType type = MessageTypeParser.parseMessageType(schema);
        ExampleParquetWriter.Builder builder = builder(file).withType(type).withCodecFactory(new NoCompression());
        try (ParquetWriter<Group> writer = options.apply(builder).build()) {
            rows.write(new SimpleGroupFactory(type), writer::write);
        }
        return file.bytes.toByteArray();
    }

    /** Calls overloaded methods by their handles: the compiler wants the classes of Hadoop to choose one. */
    private static ExampleParquetWriter.Builder builder(OutputFile file) {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            MethodHandle builder = lookup.findStatic(
                    ExampleParquetWriter.class,
                    "builder",
                    MethodType.methodType(ExampleParquetWriter.Builder.class, OutputFile.class));
            MethodHandle withConf = lookup.findVirtual(
                    ExampleParquetWriter.Builder.class,
                    "withConf",
                    MethodType.methodType(ParquetWriter.Builder.class, ParquetConfiguration.class));
            Object made = builder.invoke(file);
            return (ExampleParquetWriter.Builder) withConf.invoke(made, new PlainParquetConfiguration());
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public PositionOutputStream create(long blockSizeHint) {
        return new PositionOutputStream() {
            @Override
            public long getPos() {
                return bytes.size();
            }

            @Override
            public void write(int b) {
                bytes.write(b);
            }

            @Override
            public void write(byte[] data, int offset, int length) {
                bytes.write(data, offset, length);
            }
        };
    }

    @Override
    public PositionOutputStream createOrOverwrite(long blockSizeHint) {
        return create(blockSizeHint);
    }

    @Override
    public boolean supportsBlockSize() {
        return false;
    }

    @Override
    public long defaultBlockSize() {
        return 0;
    }

    /** The factory of parquet-java needs Hadoop. */
    private static final class NoCompression
            implements CompressionCodecFactory, CompressionCodecFactory.BytesInputCompressor {
        @Override
        public BytesInputCompressor getCompressor(CompressionCodecName codec) {
            return this;
        }

        @Override
        public BytesInputDecompressor getDecompressor(CompressionCodecName codec) {
            throw new UnsupportedOperationException();
        }

        @Override
        public BytesInput compress(BytesInput bytes) {
            return bytes;
        }

        @Override
        public CompressionCodecName getCodecName() {
            return CompressionCodecName.UNCOMPRESSED;
        }

        @Override
        public void release() {}
    }
}
