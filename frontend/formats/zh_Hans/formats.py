"""What Django has for Chinese, but for fields of dates: `<input type="date">` takes the ISO form only."""

DATETIME_FORMAT = "Y年n月j日 H:i"
SHORT_DATE_FORMAT = "Y-m-d"
SHORT_DATETIME_FORMAT = "Y-m-d H:i"
DATE_INPUT_FORMATS = ["%Y-%m-%d", "%Y/%m/%d"]
