/** TFRecord files whose records are {@code tf.train.Example} messages. The features are the columns. */
package dev.stoker.formats.tfrecord;
