"""The reader of a feed's Kafka topic: a `BatchSource` over consumers.

One thread calls it; librdkafka runs its own threads.
"""
