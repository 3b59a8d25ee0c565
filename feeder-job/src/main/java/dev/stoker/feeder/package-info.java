/**
 * The Flink application that serves batches to the trainers of one training job.
 */
package dev.stoker.feeder;
